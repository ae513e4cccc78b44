"""Reading: a library's settings understood: sizes, mini-batches, schedule, and refusals."""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from math import prod
from typing import Any

from nbyt.dialects.dialect import Check, Dialect, Rules
from nbyt.dialects.settings import Settings, contradiction
from nbyt.dialects.sizes import BatchSizes, Cut, MinibatchOrder, Source, cut, sizes
from nbyt.errors import DialectError


def refusals(source: Source, size: BatchSizes, pieces: Cut | None) -> tuple[str, ...]:
    """Return the reasons why the library would stop; empty if it would not."""
    rules, library = source.rules, source.dialect.library
    found = [_check(source, size, check) for check in source.dialect.checks]
    if size.minibatch < rules.least_minibatch and size.minibatch >= 1:
        found.append(f"{library} refuses mini-batches of {size.minibatch}: nothing to normalise")
    if rules.minibatch_within_batch and size.minibatch > size.batch:
        found.append(
            f"{library} refuses a mini-batch of {size.minibatch} from {size.batch} samples"
        )
    if rules.collect == "spread" and source.known("steps") and size.batch > 1.1 * size.asked:
        found.append(
            f"{library} refuses fragments of {size.fragment}: {size.envs} envs then give "
            f"{size.batch} samples, over 10 % more than asked"
        )
    if pieces is None:
        found.append(_does_not_split(source, size))
    return tuple(reason for reason in found if reason)


def _does_not_split(source: Source, size: BatchSizes) -> str:
    if size.minibatch < 1:
        return f"{size.minibatches} mini-batches of {size.batch} samples would be empty"
    wanted = (
        f"{size.minibatches} mini-batches" if size.minibatches else f"pieces of {size.minibatch}"
    )
    message = f"{size.batch} samples do not split into {wanted}"
    if source.rules.ragged == "unread":
        return f"{message}; what {source.dialect.library} does then was not read in its code"
    return f"{message}: {source.dialect.library} stops with {source.rules.ragged_says}"


def _check(source: Source, size: BatchSizes, check: Check) -> str:
    """Return how these sizes break one demand of the library; empty if they meet it."""
    values: Mapping[str, Any] = {**size.as_dict(), **source.values}
    if any(values.get(key) != value for key, value in check.when.items()):
        return ""
    # A size that fell away (no N where N does not matter) has nothing to divide.
    if any(values.get(key) is None for key in (*check.of, *check.by)):
        return ""
    whole, part = (prod(int(values[key]) for key in keys) for keys in (check.of, check.by))
    if whole % part == 0:
        return ""
    total, share = (" x ".join(keys) for keys in (check.of, check.by))
    library = source.dialect.library
    return f"{library} stops: {total} = {whole} is not a multiple of {share} = {part}"


@dataclass(frozen=True)
class Reading:
    """A library's settings, understood."""

    dialect: Dialect
    settings: Settings
    rules: Rules
    sizes: BatchSizes
    cut: Cut
    refusals: tuple[str, ...] = ()
    total: int | None = None
    evaluation: int | None = None

    @property
    def gradient_steps_per_update(self) -> int:
        """Return the gradient steps of one update: 0 if the library refuses."""
        return self.cut.steps(self.sizes.epochs)

    @property
    def minibatches(self) -> float:
        """Return the mini-batches per epoch: a fraction where passes run into each other."""
        mean = self.gradient_steps_per_update / self.sizes.epochs
        return int(mean) if mean.is_integer() else mean

    @property
    def minibatch(self) -> int:
        """Return the usual mini-batch size: the size asked for, at most the batch."""
        return min(self.sizes.minibatch, self.sizes.batch)

    @property
    def uses_per_sample(self) -> float:
        """Return how often a sample is used in its update, on average."""
        passes = 1 if self.cut.whole_update else self.sizes.epochs
        return self.cut.samples * passes / self.sizes.batch

    @property
    def total_steps(self) -> int | None:
        """Return the run's steps over all envs, whatever unit the library counts in."""
        if self.total is None:
            return None
        units = {"steps": 1, "steps_per_env": self.sizes.envs, "updates": self.sizes.batch}
        return self.total * units[self.rules.total]

    @property
    def updates(self) -> int | None:
        """Return the updates of the whole run; None if its length is not known."""
        if self.total is None or self.refusals:
            return None if self.total is None else 0
        if self.rules.total == "updates":
            return self.total
        if self.rules.total == "steps_per_env":
            return self.total // self.sizes.steps
        return self._updates_in(self.total)

    @property
    def is_even(self) -> bool:
        """Return True if all mini-batches have one size and hold every sample once per epoch."""
        size = self.sizes
        return (
            not self.refusals
            and size.envs * size.steps == size.batch == size.asked
            and size.batch % self.minibatch == 0
            and self.minibatch == size.minibatch
            and len(self.cut.runs) == 1
            and self.cut.left_out == 0
        )

    def _updates_in(self, total: int) -> int:
        batch = self.sizes.batch
        if self.rules.updates == "floor":
            return total // batch
        if self.rules.updates == "by_evaluation" and self.evaluation:
            return -(-total // self.evaluation) * -(-self.evaluation // batch)
        return -(-total // batch)


def read(dialect: Dialect, given: Settings) -> Reading:
    """Work out what the library does with these settings; contradictions raise DialectError."""
    values = given.values
    rules = dialect.rules_at(values)
    source = Source(dialect, rules, values, given.unset)
    found = sizes(source)
    _agree(source)
    order = MinibatchOrder(found.batch, found.minibatch, found.minibatches, found.epochs)
    pieces = cut(rules.ragged, order)
    refused = refusals(source, found, pieces)
    reading = Reading(
        dialect=dialect,
        settings=given,
        rules=rules,
        sizes=found,
        cut=pieces if pieces and not refused else Cut(()),
        refusals=refused,
        total=source.known("total"),
        evaluation=source.known("evaluation"),
    )
    _derived_agree(reading)
    return reading


def reread(reading: Reading, change: Mapping[str, Any]) -> Reading | None:
    """Read again with some settings changed; None if the library would refuse them."""
    given = {**reading.settings.given, **change}
    try:
        found = read(reading.dialect, replace(reading.settings, given=given))
    except DialectError:
        return None
    return None if found.refusals else found


def _agree(source: Source) -> None:
    """Refuse a size that was given under two names with two values."""
    for word in ("batch", "minibatch"):
        main, other = source.known(word), source.known(f"{word}_or")
        if main is not None and other is not None and main != other:
            keys = (source.dialect.key(word), source.dialect.key(f"{word}_or"))
            one, two = (f"{key}={source.values[key]}" for key in keys)
            raise contradiction(source.dialect, one, two)


def _derived_agree(reading: Reading) -> None:
    """Refuse a value for what the library computes itself, if it computes another."""
    dialect, size = reading.dialect, reading.sizes
    known = {**size.as_dict(), "updates": reading.updates, "minibatches": reading.minibatches}
    for key, word in dialect.derived.items():
        wanted = reading.settings.given.get(key)
        if wanted is None or known[word] is None or wanted == known[word] or reading.refusals:
            continue
        raise contradiction(
            dialect, f"{key}={wanted}", f"{_reason(reading, word)}, which make {known[word]}"
        )


def _reason(reading: Reading, word: str) -> str:
    values, dialect = reading.settings.values, reading.dialect
    parts = {
        "steps": ("steps",),
        "batch": ("envs", "steps"),
        "minibatch": ("envs", "steps", "minibatches"),
        "minibatches": ("envs", "steps", "minibatch"),
        "updates": ("total", "envs", "steps"),
    }
    keys = [dialect.key(part) for part in parts[word] if dialect.key(part)]
    return " and ".join(f"{key}={values[key]}" for key in keys if key in values)
