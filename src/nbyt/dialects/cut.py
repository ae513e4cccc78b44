"""How a library cuts a batch whose size does not divide: one function a rule."""

from collections.abc import Callable
from dataclasses import dataclass

Runs = tuple[tuple[int, int], ...]


@dataclass(frozen=True)
class Cut:
    """The mini-batches of one epoch, or of the whole update where passes run into each other.

    `runs` are (size, how many), in order. `left_out` samples of an epoch are in no mini-batch.
    """

    runs: Runs
    whole_update: bool = False
    left_out: int = 0

    @property
    def count(self) -> int:
        """How many mini-batches."""
        return sum(count for _, count in self.runs)

    @property
    def samples(self) -> int:
        """Samples in all of them together."""
        return sum(size * count for size, count in self.runs)

    @property
    def smallest(self) -> int:
        """Samples in the smallest of them."""
        return min(size for size, _ in self.runs)

    def steps(self, epochs: int) -> int:
        """Mini-batches, and so gradient steps, of an update of that many epochs."""
        return self.count * (1 if self.whole_update else epochs)

    def signature(self, epochs: int) -> tuple[object, ...]:
        """What makes two updates alike: equal mini-batches counted, others epoch by epoch."""
        if len(self.runs) == 1 and not self.left_out:
            return self.runs[0][0], self.steps(epochs)
        return self.runs, self.left_out, epochs

    def sizes(self) -> list[int]:
        """One number for each mini-batch."""
        return [size for size, count in self.runs for _ in range(count)]


@dataclass(frozen=True)
class MinibatchOrder:
    """What is to be cut: a batch into mini-batches of a size, of which a count was asked."""

    batch: int
    minibatch: int
    minibatches: int
    epochs: int


def cut(rule: str, order: MinibatchOrder) -> Cut | None:
    """The mini-batches, or None where the library stops with an error."""
    if order.minibatch < 1:
        return None
    return RAGGED[rule](order)


def _runs(*runs: tuple[int, int]) -> Runs:
    return tuple((size, count) for size, count in runs if size and count)


def _keep_short(order: MinibatchOrder) -> Cut:
    full, rest = divmod(order.batch, order.minibatch)
    return Cut(_runs((order.minibatch, full), (rest, 1)))


def _drop(order: MinibatchOrder) -> Cut:
    """Where the count is the setting, exactly so many; else as many as fit."""
    count = order.minibatches or order.batch // order.minibatch
    return Cut(_runs((order.minibatch, count)), left_out=order.batch - order.minibatch * count)


def _merge_last(order: MinibatchOrder) -> Cut:
    full, rest = divmod(order.batch, order.minibatch)
    if not full or not rest:
        return _keep_short(order)
    return Cut(_runs((order.minibatch, full - 1), (order.minibatch + rest, 1)))


def _wrap(order: MinibatchOrder) -> Cut:
    """A mini-batch that the end of a pass leaves short is filled from the next pass."""
    count = -(-order.epochs * order.batch // order.minibatch)
    return Cut(_runs((order.minibatch, count)), whole_update=True)


def _floor_count(order: MinibatchOrder) -> Cut:
    count = order.epochs * order.batch // order.minibatch
    return Cut(_runs((order.minibatch, count)), whole_update=True)


def _even_split(order: MinibatchOrder) -> Cut:
    """Sizes that differ by at most one, the larger first."""
    small, larger = divmod(order.batch, order.minibatches)
    return Cut(_runs((small + 1, larger), (small, order.minibatches - larger)))


def _error(order: MinibatchOrder) -> Cut | None:
    count = order.minibatches or order.batch // order.minibatch
    return None if order.minibatch * count != order.batch else _keep_short(order)


def _full_batch(order: MinibatchOrder) -> Cut:
    return Cut(_runs((order.batch, 1)))


RAGGED: dict[str, Callable[[MinibatchOrder], Cut | None]] = {
    "keep_short": _keep_short,
    # A floored size, sliced until nothing is left: one mini-batch more than was asked for.
    "extra_short": _keep_short,
    "drop": _drop,
    "merge_last": _merge_last,
    "wrap": _wrap,
    "floor_count": _floor_count,
    "even_split": _even_split,
    "error": _error,
    "full_batch": _full_batch,
    # Nothing is known of a rest, so only sizes that leave none are answered.
    "unread": _error,
}
