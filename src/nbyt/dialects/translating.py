"""The same layout in another library's words, and what cannot be made equal."""

from dataclasses import dataclass, replace
from math import prod
from typing import Any

from nbyt.dialects import describing
from nbyt.dialects.describing import table
from nbyt.dialects.dialect import Dialect, load
from nbyt.dialects.differences import Difference, differences
from nbyt.dialects.explaining import Explanation, explained
from nbyt.dialects.pasting import pasted
from nbyt.dialects.reading import Reading, reread
from nbyt.dialects.solving import Values, factors, nearest_settings, solved, spoken
from nbyt.errors import DialectError


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
        """Whether the layout itself came through without loss."""
        return not any(difference.loss for difference in self.differences)

    def as_dict(self) -> dict[str, Any]:
        """Everything, as plain data."""
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
    """The layout of one library's settings in another library's words.

    >>> translate("sb3", "cleanrl", n_envs=8, batch_size=256).settings["num_minibatches"]
    64
    """
    return translated(explained(load(source), given.items()), load(target))


def translated(source: Explanation, target: Dialect) -> Translation:
    """The same from an explanation."""
    if source.reading.refusals:
        raise DialectError(
            "; ".join(source.reading.refusals),
            where=source.dialect.id,
            fix=source.traps[0].fix,
        )
    values = solved(source.reading, target)
    result = explained(target, values.items())
    if result.reading.refusals:
        values |= _nearest(result)
        result = explained(target, values.items())
    found = differences(source.reading, result.reading)
    return Translation(source, result, values, pasted(target, values), found)


def equal_batch(before: Explanation, after: Explanation) -> list[dict[str, Any]]:
    """Settings of the second with the batch of the first: the second's envs, or its steps."""
    one, other = before.reading.sizes, after.reading.sizes
    if one.batch == other.batch or before.reading.refusals:
        return []
    shapes = {
        (other.envs, one.batch // other.envs),
        (one.batch // other.steps, other.steps),
    }
    known = {(one.envs, one.steps)} if after.dialect.id == before.dialect.id else set()
    whole = sorted(shape for shape in shapes - known if shape[0] * shape[1] == one.batch)
    offers = [_with_batch(before, after, shape) for shape in whole]
    return [offer for offer in offers if offer]


def _with_batch(before: Explanation, after: Explanation, shape: tuple[int, int]) -> Values:
    """Settings that give the second this shape: with the first's mini-batch if that can be."""
    for kept in (factors(after.reading), {}):
        sizes = _shaped(before, shape, after.reading, kept)
        bare = {key: value for key, value in sizes.items() if _is_shape(after.dialect, key)}
        for offer in (sizes, bare):
            found = reread(after.reading, offer)
            if found is not None and found.sizes.batch == before.reading.sizes.batch:
                return offer
    return {}


def keeping_minibatch(before: Explanation, after: Explanation) -> Values:
    """The settings of the second that give it the mini-batch of the first; none if none do."""
    size, batch = before.reading.minibatch, after.reading.sizes.batch
    words, values = spoken(after.reading).words, after.reading.settings.values
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
    values = solved(replace(before.reading, sizes=sizes), spoken(after), kept)
    return {key: value for key, value in values.items() if _is_size(after.dialect, key)}


def _is_shape(target: Dialect, key: str) -> bool:
    return target.role(key) in ("envs", "steps", "fragment", "batch")


def _is_size(target: Dialect, key: str) -> bool:
    return target.role(key) not in ("gamma", "lam", "learning_rate", "total")


def _nearest(refused: Explanation) -> Values:
    """The smallest change that makes the target accept, of mini-batches if that is enough."""
    have = refused.reading.settings.values
    changes = [next(iter(change.items())) for change in nearest_settings(refused.reading)]
    first = [value for key, value in changes if key == changes[0][0]]
    return {key: min(first, key=lambda value: abs(value - have[key])) for key, _ in changes[:1]}
