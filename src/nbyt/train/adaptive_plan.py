"""A run of PPO whose layout adapts: the batch stays, T and N move."""

from dataclasses import dataclass, field
from typing import Any

from nbyt.errors import LayoutError
from nbyt.layout import Layout
from nbyt.train.layout_controller import LayoutController
from nbyt.train.plan import RunPlan
from nbyt.train.settings import PPOSettings

# A rollout that is looked at has so many envs, whose streams are independent; half of its steps
# are looked at, and the longest T that a run may take is that half.
LOOKED_ENVS = 8
_HALF = 2
_LEAST = 64


@dataclass(frozen=True)
class AdaptivePlan(RunPlan[Layout, PPOSettings]):
    """A run of PPO; `layout` is the one it begins with, `most` the envs it may use."""

    algo = "ppo"

    controller: LayoutController = field(default_factory=LayoutController)
    most: int = 2**62

    @property
    def looked(self) -> Layout:
        """The layout of rollouts that are looked at."""
        return self.split(self.layout.batch // LOOKED_ENVS)

    @property
    def lengths(self) -> tuple[int, ...]:
        """Every T that the run may take, shortest first."""
        return lengths_of(self.layout.batch, self.most)

    def split(self, steps: int) -> Layout:
        """The layout with so many steps."""
        own = self.layout
        return Layout(own.batch // steps, steps, own.minibatch, own.epochs)

    def identity(self) -> dict[str, Any]:
        """All that decides the run's numbers, as plain values."""
        controller = {
            name: getattr(self.controller, name) for name in LayoutController.__dataclass_fields__
        }
        return {**super().identity(), "adaptive": {**controller, "lengths": list(self.lengths)}}


def lengths_of(batch: int, most: int) -> tuple[int, ...]:
    """The powers of two that a batch may be cut into, with at most so many envs."""
    longest = batch // LOOKED_ENVS // _HALF
    powers = [2**k for k in range(max(longest, 1).bit_length())]
    found = tuple(t for t in powers if batch % t == 0 and batch // t <= most)
    if batch < _LEAST or batch % (LOOKED_ENVS * _HALF) or len(found) < _HALF:
        raise LayoutError(
            f"a batch of {batch} has no layouts to move between",
            where="batch",
            fix="use a power of two of at least 64, such as 2048, and allow enough envs",
        )
    return found


def first_layout(batch: int, minibatch: int, epochs: int, most: int) -> Layout:
    """Where a run begins: the critic knows nothing yet, so T is the longest."""
    steps = lengths_of(batch, most)[-1]
    return Layout(batch // steps, steps, minibatch, epochs)
