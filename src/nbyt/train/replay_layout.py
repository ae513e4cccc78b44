"""ReplayLayout: the sizes of learning from a replay buffer, and what follows from them."""

from dataclasses import asdict, dataclass

from nbyt.errors import LayoutError
from nbyt.layout import batch_of
from nbyt.numbers import SIZE, STEPS, Passes, Size, Steps, check_fields

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
