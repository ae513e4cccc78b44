"""Translate a layout to another library's words, and list what cannot be made equal."""

from dataclasses import dataclass, field, replace
from math import prod
from typing import Any

from nbyt.dialects import describing
from nbyt.dialects.describing import table
from nbyt.dialects.dialect import Dialect, load
from nbyt.dialects.differences import (
    DIFFERS,
    LEFT,
    Difference,
    differences,
    learning_differences,
    switch_differences,
    switched,
)
from nbyt.dialects.differences import same_minibatches as same_minibatches
from nbyt.dialects.explaining import Explanation, explained
from nbyt.dialects.pasting import pasted
from nbyt.dialects.reading import Reading, reread
from nbyt.dialects.solving import Values, factors, nearest_settings, solved, with_chosen_names
from nbyt.errors import DialectError

_SHAPE = ("envs", "steps", "fragment", "batch")
_NO_SIZES = ("gamma", "lam", "learning_rate", "total")


@dataclass(frozen=True)
class Translation:
    """Settings of another library, as data and as text to paste. A notebook shows a table.

    `settings` are those of the layout; `learning` makes the target learn in the same way.
    """

    source: Explanation
    target: Explanation
    settings: dict[str, Any]
    paste: str
    differences: tuple[Difference, ...]
    learning: dict[str, Any] = field(default_factory=dict)

    @property
    def is_exact(self) -> bool:
        """Return True if the layout itself is the same."""
        return not any(difference.loss for difference in self.differences)

    @property
    def not_same(self) -> tuple[Difference, ...]:
        """Return what is not the same beside the layout."""
        kinds = (LEFT, DIFFERS)
        return tuple(one for one in self.differences if one.kind in kinds and one.matters)

    def as_dict(self) -> dict[str, Any]:
        """Return everything as plain data."""
        return {
            "from": self.source.dialect.id,
            "to": self.target.dialect.id,
            "settings": self.settings,
            "learning": self.learning,
            "paste": self.paste,
            "differences": [difference.as_dict() for difference in self.differences],
            "exact": self.is_exact,
            "not_same": [one.code for one in self.not_same],
            "layout": self.target.layout,
            "source_layout": self.source.layout,
            "traps": [trap.as_dict() for trap in self.target.traps],
            "filled_defaults": self.source.filled_defaults,
        }

    def __str__(self) -> str:
        return describing.text(*self._told())

    def _told(self) -> tuple[str, describing.Facts]:
        title = " to ".join(describing.title(one.dialect) for one in (self.source, self.target))
        rows = [("paste", self.paste), ("settings", describing.assigned(self.settings))]
        return title, [*rows, *((one.kind, one.message) for one in self.differences)]

    def _repr_html_(self) -> str:
        return table(*self._told())


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
    switches = switched(source.reading, target)
    values = {**solved(source.reading, target), **switches}
    result = explained(target, values.items())
    if result.reading.refusals:
        values |= _nearest(result)
        result = explained(target, values.items())
    learning, told = learning_differences(source.reading, target)
    learning = {key: value for key, value in learning.items() if key not in values}
    told = [*switch_differences(target, switches), *told]
    found = (*differences(source.reading, result.reading), *told)
    text = pasted(target, {**values, **learning})
    return Translation(source, result, values, text, found, learning)


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
