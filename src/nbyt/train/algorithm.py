"""What the training loop needs of an algorithm."""

from collections.abc import Iterator
from typing import Any, Protocol, runtime_checkable

from nbyt.policy.actor_critic import ActorCritic, Params
from nbyt.train.metrics import Row, UpdateMetrics


@runtime_checkable
class Algorithm(Protocol):
    """An algorithm on its way through a plan; it keeps what it has learnt so far."""

    @property
    def policy(self) -> ActorCritic:
        """The policy that learns."""
        ...

    @property
    def params(self) -> Params:
        """What the policy has learnt, ready to be evaluated."""
        ...

    def updates(self, first: int) -> Iterator[UpdateMetrics]:
        """Updates from that number on, each a pure function of the one before.

        An algorithm may make several at once and yield only the last of them.
        """
        ...

    def row(self, made: UpdateMetrics) -> Row:
        """The row of the metrics table; an error where the env or the loss gave a NaN."""
        ...

    def facts(self) -> dict[str, Any]:
        """What the algorithm alone knows of a stage, as plain values."""
        ...

    def findings(self) -> dict[str, Any]:
        """What the run's result says beyond its returns, as plain values."""
        ...

    def state(self) -> Any:
        """Everything that a checkpoint has to hold, as a tree of arrays."""
        ...

    def restore(self, state: Any) -> None:
        """Go on from a checkpoint."""
        ...

    def close(self) -> None:
        """Stop the environments."""
        ...
