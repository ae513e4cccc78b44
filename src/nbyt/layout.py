"""Layout: envs, steps, mini-batch size and epochs, and every size that follows from them."""

from dataclasses import asdict, dataclass
from math import isqrt

from nbyt.errors import LayoutError


@dataclass(frozen=True)
class Layout:
    """How one PPO update gets and uses its samples. A layout that exists is valid.

    envs (N) parallel environments take steps (T) steps each; the N x T samples are the rollout
    buffer, which is the batch; the batch is shuffled and chopped into mini-batches, once an epoch.
    Without `minibatch` the whole batch is one mini-batch.

    >>> Layout(envs=8, steps=256, minibatch=256, epochs=4).gradient_steps
    32
    """

    envs: int
    steps: int
    minibatch: int = 0
    epochs: int = 1

    def __post_init__(self) -> None:
        for name in ("envs", "steps", "epochs"):
            require_whole(name, getattr(self, name), least=1)
        require_whole("minibatch", self.minibatch, least=0)
        if self.minibatch == 0:
            object.__setattr__(self, "minibatch", self.batch)
        if self.batch % self.minibatch:
            raise LayoutError(
                f"{self.batch} samples (envs={self.envs} x steps={self.steps}) do not split into "
                f"mini-batches of {self.minibatch}",
                where="minibatch",
                fix=f"nearest that do: {_listed(nearest_divisors(self.batch, self.minibatch))}",
            )

    @property
    def batch(self) -> int:
        """Samples in the rollout buffer: N x T."""
        return self.envs * self.steps

    @property
    def minibatches(self) -> int:
        """Mini-batches in one epoch."""
        return self.batch // self.minibatch

    @property
    def gradient_steps(self) -> int:
        """Gradient steps in one update: mini-batches times epochs."""
        return self.minibatches * self.epochs

    def updates(self, total: int) -> int:
        """Whole updates in a run of `total` environment steps."""
        require_whole("total", total, least=1)
        if total < self.batch:
            raise LayoutError(
                f"total={total} is smaller than one batch of {self.batch} samples "
                f"(envs={self.envs} x steps={self.steps})",
                where="total",
                fix=f"ask for at least {self.batch} steps, or for fewer envs or steps",
            )
        return total // self.batch

    def as_dict(self) -> dict[str, int]:
        """The sizes in the words that JSON output promises."""
        return {**asdict(self), "batch": self.batch, "minibatches": self.minibatches}

    def __str__(self) -> str:
        return (
            f"{self.envs} envs x {self.steps} steps = {self.batch} samples, "
            f"{self.minibatches} mini-batches of {self.minibatch}, {self.epochs} epochs"
        )


def nearest_divisors(number: int, wanted: int) -> list[int]:
    """Divisors of `number` closest to `wanted`: the next below and the next above, if any.

    Of numbers beyond 1e12, only divisors up to a million, and what they leave, are looked at.
    """
    small = [d for d in range(1, min(isqrt(number), 10**6) + 1) if number % d == 0]
    divisors = sorted({*small, *(number // d for d in small)})
    below = [d for d in divisors if d <= wanted]
    above = [d for d in divisors if d > wanted]
    return below[-1:] + above[:1]


def _listed(numbers: list[int]) -> str:
    return ", ".join(str(number) for number in numbers)


def require_whole(name: str, value: object, *, least: int) -> None:
    """Nothing, or an error for what is no whole number of at least `least`."""
    if isinstance(value, bool) or not isinstance(value, int) or value < least:
        raise LayoutError(
            f"{name} must be a whole number of at least {max(least, 1)}, not {value!r}",
            where=name,
            fix=f"give {name} as a positive whole number",
        )
