"""Sizes: N, T, mini-batches and the rest, from a library's settings; one function per rule."""

from collections.abc import Callable
from dataclasses import asdict, dataclass

from nbyt.dialects.missing import Given, MissingSettingsError
from nbyt.errors import DialectError

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
        """Return the number of mini-batches."""
        return sum(count for _, count in self.runs)

    @property
    def samples(self) -> int:
        """Return the samples in all of them together."""
        return sum(size * count for size, count in self.runs)

    @property
    def smallest(self) -> int:
        """Return the samples in the smallest of them."""
        return min(size for size, _ in self.runs)

    def steps(self, epochs: int) -> int:
        """Return the mini-batches, and so gradient steps, of an update of that many epochs."""
        return self.count * (1 if self.whole_update else epochs)

    def signature(self, epochs: int) -> tuple[object, ...]:
        """Return what makes two updates equal: equal mini-batches counted, others per epoch."""
        if len(self.runs) == 1 and not self.left_out:
            return self.runs[0][0], self.steps(epochs)
        return self.runs, self.left_out, epochs

    def sizes(self) -> list[int]:
        """Return one size for each mini-batch."""
        return [size for size, count in self.runs for _ in range(count)]


@dataclass(frozen=True)
class MinibatchOrder:
    """A batch to be cut into mini-batches of a size, or into a count of them."""

    batch: int
    minibatch: int
    minibatches: int
    epochs: int


def cut(rule: str, order: MinibatchOrder) -> Cut | None:
    """Cut a batch into mini-batches; None where the library stops with an error."""
    if order.minibatch < 1:
        return None
    return RAGGED[rule](order)


def _runs(*runs: tuple[int, int]) -> Runs:
    return tuple((size, count) for size, count in runs if size and count)


def _keep_short(order: MinibatchOrder) -> Cut:
    full, rest = divmod(order.batch, order.minibatch)
    return Cut(_runs((order.minibatch, full), (rest, 1)))


def _drop(order: MinibatchOrder) -> Cut:
    """Cut exactly as many as asked for where the count is the setting, else as many as fit."""
    count = order.minibatches or order.batch // order.minibatch
    return Cut(_runs((order.minibatch, count)), left_out=order.batch - order.minibatch * count)


def _merge_last(order: MinibatchOrder) -> Cut:
    full, rest = divmod(order.batch, order.minibatch)
    if not full or not rest:
        return _keep_short(order)
    return Cut(_runs((order.minibatch, full - 1), (order.minibatch + rest, 1)))


def _wrap(order: MinibatchOrder) -> Cut:
    """Fill a mini-batch that the end of a pass leaves short from the next pass."""
    count = -(-order.epochs * order.batch // order.minibatch)
    return Cut(_runs((order.minibatch, count)), whole_update=True)


def _floor_count(order: MinibatchOrder) -> Cut:
    count = order.epochs * order.batch // order.minibatch
    return Cut(_runs((order.minibatch, count)), whole_update=True)


def _even_split(order: MinibatchOrder) -> Cut:
    """Cut sizes that differ by at most one, the larger first."""
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
    # The rule for a remainder is unknown, so only sizes without one are answered.
    "unread": _error,
}


@dataclass(frozen=True)
class BatchSizes:
    """Sizes of one update, as asked for: what it collects and how that is cut.

    `fragment` is the length over which advantages are computed; it is `steps` unless the library
    cuts rollouts into pieces. `minibatches` is the count that was asked for, 0 if a size was.
    `batch` is envs x steps unless the work does not spread evenly over the envs; `asked` is the
    batch that the settings name, where they name one.
    """

    envs: int
    steps: int
    fragment: int
    batch: int
    minibatch: int
    minibatches: int
    epochs: int
    asked: int

    def as_dict(self) -> dict[str, int]:
        """Return the sizes by name."""
        return asdict(self)


@dataclass(frozen=True)
class Source(Given):
    """Settings of a dialect, looked up by our words."""

    unset: tuple[str, ...] = ()

    def needed(self, word: str) -> int:
        """Return the product of the settings behind a word; they are known to be there."""
        found = self.known(word)
        assert found is not None, word
        return found


def sizes(source: Source) -> BatchSizes:
    """Return the sizes that these settings ask for, or raise MissingSettingsError."""
    if source.absent():
        raise MissingSettingsError(source, source.unset)
    envs, steps, fragment, batch = _COLLECT[source.rules.collect](source)
    minibatch, count = _minibatch(source, batch)
    epochs = source.needed("epochs")
    asked = batch if source.rules.collect == "per_env" else _asked(source, batch)
    return BatchSizes(envs, steps, fragment, batch, minibatch, count, epochs, asked)


Collected = tuple[int, int, int, int]


def _per_env(source: Source) -> Collected:
    envs = source.rules.fixed_envs or source.needed("envs")
    steps = source.needed("steps")
    return envs, steps, steps, envs * steps


def _total_up(source: Source) -> Collected:
    """Collect a total, rounded up so that all envs take the same number of steps."""
    envs = source.needed("envs")
    steps = _ceil(source.needed("batch"), envs)
    return envs, steps, steps, envs * steps


def _total_down(source: Source) -> Collected:
    """Collect a total, rounded down so that all envs take the same number of steps."""
    envs, total = source.needed("envs"), source.needed("batch")
    if total < envs:
        raise DialectError(
            f"{total} steps over {envs} envs leave none for some of them",
            where=f"{source.dialect.key('batch')} of {source.dialect.id}",
            fix=f"ask for at least {envs}",
        )
    steps = total // envs
    return envs, steps, steps, envs * steps


def _spread(source: Source) -> Collected:
    """Collect a total; each group of envs that shares a runner takes one step more or less.

    With a given fragment, rounds of one fragment from each env are added until there is enough.
    """
    envs, fragment = source.needed("envs"), source.known("steps")
    total = _asked(source, 0) or source.needed("batch")
    if fragment is not None:
        rounds = _ceil(total, envs * fragment)
        return envs, rounds * fragment, fragment, envs * rounds * fragment
    group = int(source.values[source.dialect.key("envs")])
    whole, rest = divmod(total, envs)
    batch = whole * envs + _ceil(rest, group) * group
    steps = _ceil(batch, envs)
    return envs, steps, steps, batch


def _fragments(source: Source) -> Collected:
    """Collect a number of fragments from any env; without N, one env for each."""
    fragment, batch = source.needed("fragment"), source.known("batch")
    if batch is None:
        batch = source.needed("envs") * fragment
    envs = source.known("envs") or max(batch // fragment, 1)
    return envs, _ceil(batch, envs), min(fragment, batch), batch


_COLLECT: dict[str, Callable[[Source], Collected]] = {
    "per_env": _per_env,
    "total_up": _total_up,
    "total_down": _total_down,
    "spread": _spread,
    "fragments": _fragments,
}


def _asked(source: Source, otherwise: int) -> int:
    named = [source.known(word) for word in ("batch_or", "batch")]
    return next((size for size in named if size is not None), otherwise)


def _minibatch(source: Source, batch: int) -> tuple[int, int]:
    """Return the mini-batch size and the count asked for (0 where the size is the setting)."""
    words = source.dialect.words
    size = source.known("minibatch")
    size = source.known("minibatch_or") if size is None else size
    if size is not None:
        return size, 0
    if "minibatches" in words:
        count = source.needed("minibatches")
        return batch // count, count
    if "minibatch" in words and source.dialect.key("minibatch") not in source.rules.none_is_batch:
        source.needed("minibatch")
    return batch, 0


def _ceil(number: int, by: int) -> int:
    return -(-number // by)
