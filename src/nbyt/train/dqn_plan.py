"""DQNPlan: one DQN run, described completely."""

from dataclasses import asdict, dataclass, fields
from functools import cached_property
from typing import Any, Literal

from nbyt.errors import LayoutError
from nbyt.layout import batch_of
from nbyt.minibatch.replay import Sampling
from nbyt.numbers import SIZE, STEPS, Passes, Positive, Probability, Size, Steps, check_fields
from nbyt.policy.networks import Network, parse_network
from nbyt.train.plan import RunPlan


@dataclass(frozen=True)
class DQNSettings:
    """How DQN learns. Frozen and hashable; wrong values are refused when it is made."""

    gamma: Probability = 0.99
    """Discount of a step."""

    learning_rate: Positive = 5e-4
    """Step size of the optimiser."""

    anneal: bool = False
    """Let the learning rate fall to 0 in a straight line over the run."""

    optimizer: Literal["adam", "rmsprop", "sgd"] = "adam"
    """What turns gradients into steps."""

    double: bool = False
    """Choose the next action by the learning network, value it by the target network."""

    huber: Positive = 1.0
    """TD errors beyond this count linearly instead of squared, so that rare ones do not rule."""

    target_every: Steps = 500
    """Environment steps between two copies of the network to the target network."""

    target_mix: Probability = 1.0
    """How much of the network a copy brings; below 1 the rest of the target network stays."""

    sampling: Sampling = "uniform"
    """How mini-batches are drawn: uniform (with replacement), distinct (without), stratified over
    ages, sequential (neighbours in time), newest (no replay)."""

    epsilon_start: Probability = 1.0
    """Share of random actions at the beginning."""

    epsilon_end: Probability = 0.05
    """Share of random actions once exploration has come down."""

    exploration: Probability = 0.1
    """Part of the run over which the share of random actions comes down, in a straight line."""

    max_grad_norm: Positive = 10.0
    """Longest gradient; longer ones are scaled down to it."""

    network: str = "auto"
    """Layer widths such as 64x64, or cnn, table, auto."""

    activation: Literal["tanh", "relu", "swish"] = "relu"
    """Activation of an MLP's layers."""

    initial: Literal["orthogonal", "uniform"] = "orthogonal"
    """How weights begin: orthogonal, or uniform within 1 / √inputs as in torch and SB3."""

    on_nonfinite: Literal["stop", "drop"] = "stop"
    """What to do with a NaN or infinity from an env: stop, or leave those rows out."""

    def __post_init__(self) -> None:
        check_fields(self)
        parse_network(self.network, self.activation)

    @property
    def parsed_network(self) -> Network:
        """The network that `network` and `activation` describe."""
        return parse_network(self.network, self.activation)

    @cached_property
    def form(self) -> "DQNSettings":
        """What programs are compiled for: every setting that they take as a number is left out."""
        return DQNSettings(
            optimizer=self.optimizer,
            double=self.double,
            max_grad_norm=self.max_grad_norm,
            on_nonfinite=self.on_nonfinite,
        )

    def epsilon(self, part: float) -> float:
        """The share of random actions after that part of the run."""
        gone = min(part / self.exploration, 1.0) if self.exploration else 1.0
        return self.epsilon_start + gone * (self.epsilon_end - self.epsilon_start)

    def as_dict(self) -> dict[str, Any]:
        """Plain values, in the command line's words."""
        return {field.name: getattr(self, field.name) for field in fields(self)}


_USUAL_BUFFER = 100_000


@dataclass(frozen=True)
class ReplayLayout:
    """How one DQN update gets and uses its samples. A layout that exists is valid.

    envs (N) environments take steps (T) steps each, which go into a buffer of so many transitions;
    then come gradient_steps gradient steps, each on a mini-batch drawn from the buffer. Until
    warm_up steps were taken, actions are random and nothing is learnt.
    Without `buffer`, or with 0, it holds 100,000 transitions, or the nearest number that N x T
    divides.

    >>> ReplayLayout(envs=1, steps=4, minibatch=32).updates(100_000)
    25000
    """

    envs: Size = 1
    steps: Size = 4
    minibatch: Size = 32
    gradient_steps: Passes = 1
    buffer: Size = 0
    warm_up: Steps = 1000

    def __post_init__(self) -> None:
        batch_of(self.envs, self.steps)
        SIZE.check(self.minibatch, "minibatch")
        if self.buffer == 0 and not isinstance(self.buffer, bool):
            rows = max(_USUAL_BUFFER // self.fresh, -(-self.minibatch // self.fresh))
            object.__setattr__(self, "buffer", rows * self.fresh)
        check_fields(self)
        if self.buffer < self.minibatch:
            raise LayoutError(
                f"a buffer of {self.buffer} transitions is smaller than a mini-batch of "
                f"{self.minibatch}",
                where="buffer",
                fix=f"a buffer of at least {self.minibatch}, or a smaller mini-batch",
            )
        if self.buffer % self.fresh:
            below = self.buffer // self.fresh * self.fresh
            near = [str(size) for size in (below, below + self.fresh) if size]
            raise LayoutError(
                f"a buffer of {self.buffer} transitions does not hold a whole number of updates "
                f"of {self.fresh} (envs={self.envs} x steps={self.steps})",
                where="buffer",
                fix=f"nearest that do: {', '.join(near)}",
            )
        if self.warm_up < self.minibatch:
            raise LayoutError(
                f"after {self.warm_up} steps the buffer does not hold a mini-batch of "
                f"{self.minibatch}",
                where="warm_up",
                fix=f"a warm-up of at least {self.minibatch} steps, or a smaller mini-batch",
            )

    @property
    def fresh(self) -> int:
        """New transitions an update: N x T."""
        return self.envs * self.steps

    def learns(self, update: int) -> bool:
        """Whether gradient steps are made in that update, counted from 1."""
        return update * self.fresh >= self.warm_up

    def updates(self, total: int) -> int:
        """Whole updates in a run of `total` environment steps."""
        STEPS.check(total, "total")
        if total < max(self.fresh, self.warm_up):
            raise LayoutError(
                f"total={total} is smaller than the warm-up of {self.warm_up} steps",
                where="total",
                fix="a longer run, or a shorter warm-up",
            )
        return total // self.fresh

    def as_dict(self) -> dict[str, int]:
        """The sizes as plain numbers."""
        return asdict(self)

    def __str__(self) -> str:
        envs = "1 env" if self.envs == 1 else f"{self.envs} envs"
        count = self.gradient_steps
        drawn = "1 mini-batch" if count == 1 else f"{count} mini-batches"
        return (
            f"{envs} x {self.steps} steps, then {drawn} of {self.minibatch} from the last "
            f"{self.buffer:,} transitions"
        )


class DQNPlan(RunPlan[ReplayLayout, DQNSettings]):
    """A run of DQN, and what changes on its way."""

    algo = "dqn"

    def epsilon(self, before: int) -> float:
        """The share of random actions after so many environment steps."""
        if before < self.layout.warm_up:
            return 1.0
        return self.settings.epsilon(before / self.total)

    def learning_rate(self, update: int) -> float:
        """The step size in that update, counted from 1."""
        left = 1 - (update - 1) / self.updates if self.settings.anneal else 1.0
        return self.settings.learning_rate * left
