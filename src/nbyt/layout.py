"""Layout: envs, steps, mini-batch size and epochs, and every size that follows from them."""

from collections.abc import Sequence
from dataclasses import asdict, dataclass
from math import isqrt, log
from typing import Any

from nbyt.errors import LayoutError
from nbyt.numbers import SIZE, SIZES, STEPS, Passes, Size, check_fields

_LONGEST_DEFAULT = 2048
_MOST_LENGTHS = 12


@dataclass(frozen=True)
class Layout:
    """How one PPO update gets and uses its samples. A layout that exists is valid.

    N environments take T steps each; the N x T samples are the rollout buffer, which is the batch.
    The batch is shuffled and chopped into mini-batches, once an epoch.

    Parameters
    ----------
    envs : int
        Parallel environments, N.
    steps : int
        Steps of each environment between two updates, T.
    minibatch : int, default 0
        Samples of a mini-batch; it must divide N x T. 0 makes the whole batch one mini-batch.
    epochs : int, default 1
        Passes over the batch in one update.

    Raises
    ------
    LayoutError
        If a size is not a positive integer, or the mini-batches do not divide the batch.

    Examples
    --------
    >>> layout = Layout(envs=8, steps=256, minibatch=256, epochs=4)
    >>> layout.batch, layout.minibatches, layout.gradient_steps
    (2048, 8, 32)
    >>> layout.updates(total=100_000)
    48
    """

    envs: Size
    steps: Size
    minibatch: Size = 0
    epochs: Passes = 1

    def __post_init__(self) -> None:
        batch_of(self.envs, self.steps)
        if self.minibatch == 0 and not isinstance(self.minibatch, bool):
            object.__setattr__(self, "minibatch", self.batch)
        check_fields(self)
        if self.batch % self.minibatch:
            near = ", ".join(map(str, nearest_divisors(self.batch, self.minibatch)))
            raise LayoutError(
                f"{self.batch} samples (envs={self.envs} x steps={self.steps}) do not split into "
                f"mini-batches of {self.minibatch}",
                where="minibatch",
                fix=f"nearest that do: {near}",
            )

    @property
    def batch(self) -> int:
        """Return the samples in the rollout buffer: N x T."""
        return self.envs * self.steps

    @property
    def minibatches(self) -> int:
        """Return the mini-batches in one epoch."""
        return self.batch // self.minibatch

    @property
    def gradient_steps(self) -> int:
        """Return the gradient steps in one update: mini-batches times epochs."""
        return self.minibatches * self.epochs

    def updates(self, total: int) -> int:
        """Return the whole updates in a run of `total` environment steps."""
        STEPS.check(total, "total")
        if total < self.batch:
            raise LayoutError(
                f"total={total} is smaller than one batch of {self.batch} samples "
                f"(envs={self.envs} x steps={self.steps})",
                where="total",
                fix=f"ask for at least {self.batch} steps, or for fewer envs or steps",
            )
        return total // self.batch

    def as_dict(self) -> dict[str, int]:
        """Return the sizes under their JSON names."""
        return {**asdict(self), "batch": self.batch, "minibatches": self.minibatches}

    def __str__(self) -> str:
        return (
            f"{self.envs} envs x {self.steps} steps = {self.batch} samples, "
            f"{self.minibatches} mini-batches of {self.minibatch}, {self.epochs} epochs"
        )


def batch_of(envs: int, steps: int) -> int:
    """Return N x T, if all three are sizes that can be."""
    batch = SIZE.check(envs, "envs") * SIZE.check(steps, "steps")
    return int(SIZE.check(batch, "envs x steps"))


def nearest_divisors(number: int, wanted: int) -> list[int]:
    """Return the divisors of `number` next below and next above `wanted`, if any.

    Of numbers beyond 1e12, only divisors up to a million, and what they leave, are looked at.
    """
    small = [d for d in range(1, min(isqrt(number), 10**6) + 1) if number % d == 0]
    divisors = sorted({*small, *(number // d for d in small)})
    below = [d for d in divisors if d <= wanted]
    above = [d for d in divisors if d > wanted]
    return below[-1:] + above[:1]


def fragment_lengths(batch: int, steps: Any = None) -> tuple[int, ...]:
    """Return the T to compare: those given, or the divisors of the batch up to 2,048.

    Many divisors are thinned to twelve. Each T given must divide the batch.
    """
    if steps is None:
        divisors = [d for d in range(1, min(batch, _LONGEST_DEFAULT) + 1) if batch % d == 0]
        return tuple(_thinned(divisors))
    lengths = sorted(set(SIZES.check(steps, "steps")))
    if not lengths:
        raise LayoutError("no steps to measure", where="steps", fix="give at least one, such as 32")
    for length in lengths:
        if batch % length:
            near = ", ".join(map(str, nearest_divisors(batch, length)))
            message = f"a batch of {batch} has no split with {length} steps"
            fix = f"use a divisor of {batch}; nearest: {near}"
            raise LayoutError(message, where="steps", fix=fix)
    return tuple(lengths)


def _thinned(divisors: list[int]) -> list[int]:
    """Return about twelve of the divisors, evenly spaced on a log scale, both ends included."""
    if len(divisors) <= _MOST_LENGTHS:
        return divisors
    top = log(divisors[-1])
    wanted = [top * place / (_MOST_LENGTHS - 1) for place in range(_MOST_LENGTHS)]
    return sorted({min(divisors, key=lambda d: abs(log(d) - place)) for place in wanted})


def lengths_of(
    batch: int, steps: Sequence[int], most: int, current: int | None = None
) -> tuple[int, ...]:
    """Return the T to compare: those with at most so many envs.

    steps: those that were asked for; the divisors of the batch if empty. current: one more.
    """
    known = set(fragment_lengths(batch, steps or None))
    if current is not None:
        known |= set(fragment_lengths(batch, [current]))
    lengths = tuple(sorted(length for length in known if batch // length <= most))
    if len(lengths) < 2:
        power = 1 << max(batch.bit_length() - 1, 2)
        near = f"{power}, {2 * power}"
        raise LayoutError(
            f"a batch of {batch} has {len(lengths) or 'no'} split with at most {most} envs: there "
            "is nothing to compare",
            where="batch",
            fix=f"raise --max-envs, or take a batch with more divisors, such as {near}",
        )
    return lengths
