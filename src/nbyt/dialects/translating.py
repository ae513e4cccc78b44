"""Translate a layout to another library's words, and list what cannot be made equal."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from math import prod
from typing import Any

from nbyt.dialects import describing, vocabulary
from nbyt.dialects.describing import pieces, table
from nbyt.dialects.dialect import Dialect, load
from nbyt.dialects.explaining import Explanation, explained
from nbyt.dialects.pasting import pasted
from nbyt.dialects.reading import Reading, reread
from nbyt.dialects.solving import Values, factors, nearest_settings, solved, with_chosen_names
from nbyt.dialects.vocabulary import PROCESSES
from nbyt.errors import DialectError

_SHAPE = ("envs", "steps", "fragment", "batch")
_NO_SIZES = ("gamma", "lam", "learning_rate", "total")


@dataclass(frozen=True)
class Difference:
    """One difference; `loss` is True if the layout itself is not the same."""

    code: str
    message: str
    loss: bool

    def as_dict(self) -> dict[str, Any]:
        """Return the fields of the JSON output."""
        return dict(vars(self))


def differences(source: Reading, target: Reading) -> tuple[Difference, ...]:
    """List what could not be made equal, losses first."""
    losses = [*_sizes(source, target), _minibatches(source, target), _updates(source, target)]
    others = [compare(source, target) for compare in _RULES]
    return tuple(one for one in (*losses, *others) if one)


def same_minibatches(one: Reading, other: Reading) -> bool:
    """Return True if an update of both is cut into the same mini-batches."""
    return one.cut.signature(one.sizes.epochs) == other.cut.signature(other.sizes.epochs)


def _sizes(source: Reading, target: Reading) -> list[Difference]:
    have, get = source.sizes.as_dict(), target.sizes.as_dict()
    words = ("envs", "steps", "fragment", "batch", "epochs")
    changed = [word for word in words if have[word] != get[word]]
    return [
        Difference(word, f"{word}: {have[word]:,} becomes {get[word]:,}{_why(word, target)}", True)
        for word in changed
    ]


def _why(word: str, target: Reading) -> str:
    library = target.dialect.library
    if target.rules.fixed_envs:
        return f": {library} has one env, so that its rollout is as long as the batch"
    reasons = {
        "fragment": f": {library} computes advantages over {target.sizes.fragment:,} steps",
        "batch": f": {vocabulary.COLLECT[target.rules.collect]}",
    }
    return reasons.get(word, "")


def _minibatches(source: Reading, target: Reading) -> Difference | None:
    if same_minibatches(source, target):
        return None
    span = {True: "an update", False: "an epoch"}
    have, get = (f"{pieces(one.cut)} {span[one.cut.whole_update]}" for one in (source, target))
    why = f"{target.dialect.library}: {vocabulary.RAGGED[target.rules.ragged]}"
    if target.refusals:
        get = "; ".join(target.refusals)
    elif len(target.dialect.words.get("minibatch", ())) > 1:
        why = (
            f"{target.dialect.key('minibatch')} counts shares of a mini-batch, which must be whole"
        )
    return Difference("minibatches", f"mini-batches: {have} become {get} ({why})", True)


def _updates(source: Reading, target: Reading) -> Difference | None:
    have, get = source.updates, target.updates
    if have is None or have == get:
        return None
    if get is None:
        message = f"the run: {target.dialect.library} has no setting for its {have:,} updates"
        return Difference("updates", message, True)
    return Difference("updates", f"the run: {have:,} updates become {get:,}", True)


def _mixing(source: Reading, target: Reading) -> Difference | None:
    one, other = (
        vocabulary.sentence_of_mixing(each.rules.mixing, reshuffle=each.rules.reshuffle)
        for each in (source, target)
    )
    return _rule("mixing", source, target, one, other)


def _ragged(source: Reading, target: Reading) -> Difference | None:
    """Compare the rules for a remainder, which matter as soon as sizes leave one."""
    one, other = vocabulary.RAGGED[source.rules.ragged], vocabulary.RAGGED[target.rules.ragged]
    found = _rule("ragged", source, target, one, other)
    if found and source.is_even and target.is_even:
        return Difference(found.code, f"{found.message} (there is none here)", False)
    return found


def _stated(code: str, words: Mapping[str, str]) -> Callable[[Reading, Reading], Difference | None]:
    def compare(source: Reading, target: Reading) -> Difference | None:
        one, other = (words[getattr(each.rules, code)] for each in (source, target))
        return _rule(code, source, target, one, other)

    return compare


def _rule(code: str, source: Reading, target: Reading, one: str, other: str) -> Difference | None:
    """Describe a rule that differs, with both libraries named; None if it is the same."""
    if one == other:
        return None
    name = {"ragged": "remainder", "time_limits": "time limits", "normalise": "advantages"}
    message = f"{name.get(code, code)}: {source.dialect.library}: {one}. "
    return Difference(code, f"{message}{target.dialect.library}: {other}", False)


def _default(word: str, name: str) -> Callable[[Reading, Reading], Difference | None]:
    def compare(source: Reading, target: Reading) -> Difference | None:
        have = source.settings.values.get(source.dialect.key(word))
        key = target.dialect.key(word)
        own = target.dialect.defaults.get(key)
        if have is None or own is None or own == have:
            return None
        message = (
            f"{name}: {target.dialect.library} takes {key}={own} by default; {have} is written out"
        )
        return Difference(f"{word}_default", message, False)

    return compare


def _per_process(source: Reading, target: Reading) -> Difference | None:
    shares = [(_processes(one), one) for one in (source, target)]
    sharing = [(count, one) for count, one in shares if count > 1]
    if len(sharing) != 1:
        return None
    count, one = sharing[0]
    key = one.dialect.key("minibatch")
    message = (
        f"processes: {key}={one.settings.values[key]} is the share of each of {count} processes in "
        f"{one.dialect.library}; all together make the mini-batch of {one.minibatch}"
    )
    return Difference("per_process", message, False)


def _processes(reading: Reading) -> int:
    keys = reading.dialect.words.get("minibatch", ())[1:]
    counts = [reading.settings.values.get(key, 1) for key in keys if key in PROCESSES]
    return max([1, *counts])


_RULES: tuple[Callable[[Reading, Reading], Difference | None], ...] = (
    _mixing,
    _ragged,
    _stated("normalise", vocabulary.NORMALISE),
    _stated("time_limits", vocabulary.TIME_LIMITS),
    _default("lam", "lambda"),
    _default("gamma", "gamma"),
    _per_process,
)


@dataclass(frozen=True)
class Translation:
    """Settings of another library, as data and as text to paste. A notebook shows a table."""

    source: Explanation
    target: Explanation
    settings: dict[str, Any]
    paste: str
    differences: tuple[Difference, ...]

    @property
    def is_exact(self) -> bool:
        """Return True if the layout itself is the same."""
        return not any(difference.loss for difference in self.differences)

    def as_dict(self) -> dict[str, Any]:
        """Return everything as plain data."""
        return {
            "from": self.source.dialect.id,
            "to": self.target.dialect.id,
            "settings": self.settings,
            "paste": self.paste,
            "differences": [difference.as_dict() for difference in self.differences],
            "exact": self.is_exact,
            "layout": self.target.layout,
            "source_layout": self.source.layout,
            "traps": [trap.as_dict() for trap in self.target.traps],
            "filled_defaults": self.source.filled_defaults,
        }

    def _repr_html_(self) -> str:
        names = (
            f"{describing.title(self.source.dialect)} to {describing.title(self.target.dialect)}"
        )
        rows = [("paste", self.paste), ("settings", describing.assigned(self.settings))]
        kind = {True: "lost", False: "differs"}
        return table(names, [*rows, *((kind[d.loss], d.message) for d in self.differences)])


def translate(source: str, target: str, /, **given: Any) -> Translation:
    """Translate one library's settings to another library's words.

    >>> translate("sb3", "cleanrl", n_envs=8, batch_size=256).settings["num_minibatches"]
    64
    """
    return translated(explained(load(source), given.items()), load(target))


def translated(source: Explanation, target: Dialect) -> Translation:
    """Translate an explanation to another library's words."""
    if source.reading.refusals:
        raise DialectError(
            "; ".join(source.reading.refusals), where=source.dialect.id, fix=source.traps[0].fix
        )
    values = solved(source.reading, target)
    result = explained(target, values.items())
    if result.reading.refusals:
        values |= _nearest(result)
        result = explained(target, values.items())
    found = differences(source.reading, result.reading)
    return Translation(source, result, values, pasted(target, values), found)


def equal_batch(before: Explanation, after: Explanation) -> list[dict[str, Any]]:
    """Find settings of the second with the batch of the first, keeping its envs or its steps."""
    one, other = before.reading.sizes, after.reading.sizes
    if one.batch == other.batch or before.reading.refusals:
        return []
    shapes = {(other.envs, one.batch // other.envs), (one.batch // other.steps, other.steps)}
    known = {(one.envs, one.steps)} if after.dialect.id == before.dialect.id else set()
    whole = sorted(shape for shape in shapes - known if shape[0] * shape[1] == one.batch)
    offers = [_with_batch(before, after, shape) for shape in whole]
    return [offer for offer in offers if offer]


def _with_batch(before: Explanation, after: Explanation, shape: tuple[int, int]) -> Values:
    """Find settings that give the second this shape, if possible with the first's mini-batch."""
    for kept in (factors(after.reading), {}):
        sizes = _shaped(before, shape, after.reading, kept)
        bare = {key: value for key, value in sizes.items() if after.dialect.role(key) in _SHAPE}
        for offer in (sizes, bare):
            found = reread(after.reading, offer)
            if found is not None and found.sizes.batch == before.reading.sizes.batch:
                return offer
    return {}


def keeping_minibatch(before: Explanation, after: Explanation) -> Values:
    """Find settings that give the second the mini-batch of the first; empty if none do."""
    size, batch = before.reading.minibatch, after.reading.sizes.batch
    words, values = with_chosen_names(after.reading).words, after.reading.settings.values
    change: Values = {}
    for word, number in (("minibatch", size), ("minibatches", batch // max(size, 1))):
        first, *others = words.get(word, ("",))
        if first:
            change[first] = number // prod(max(values.get(key, 1), 1) for key in others)
    if not change or min(change.values()) < 1:
        return {}
    found = reread(after.reading, change)
    held = found is not None and (found.minibatch, found.sizes.batch) == (size, batch)
    return change if held else {}


def _shaped(before: Explanation, shape: tuple[int, int], after: Reading, kept: Values) -> Values:
    envs, steps = shape
    sizes = replace(before.reading.sizes, envs=envs, steps=steps, fragment=steps)
    values = solved(replace(before.reading, sizes=sizes), with_chosen_names(after), kept)
    role = after.dialect.role
    return {key: value for key, value in values.items() if role(key) not in _NO_SIZES}


def _nearest(refused: Explanation) -> Values:
    """Find the smallest change that makes the target accept, preferably of mini-batches."""
    have = refused.reading.settings.values
    changes = [next(iter(change.items())) for change in nearest_settings(refused.reading)]
    first = [value for key, value in changes if key == changes[0][0]]
    return {key: min(first, key=lambda value: abs(value - have[key])) for key, _ in changes[:1]}
