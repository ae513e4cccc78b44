"""The fewest of a user's own settings to change for another layout."""

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from nbyt.dialects.cut import Cut
from nbyt.dialects.reading import Reading, reread
from nbyt.dialects.solving import Values, factors, solved, spoken
from nbyt.layout import Layout


def fewest_changes(reading: Reading, layout: Layout, *, same_minibatch: bool) -> Values | None:
    """The settings to change so that the library has this layout; None if it cannot have it.

    Workers and the like stay as they are where that is possible, and so does the length of the run.
    same_minibatch: the mini-batch stays the user's, whatever the layout says.
    """
    wanted = _wanted(reading, layout, same_minibatch=same_minibatch)
    for kept in (factors(reading), {}):
        tried = solved(wanted, spoken(reading), kept).items()
        change = {key: value for key, value in tried if value != reading.settings.values.get(key)}
        for one in (_without_length(reading, change), change):
            if _reaches(reading, one, wanted):
                return _thinned(reading, one, wanted)
    return None


def _without_length(reading: Reading, change: Values) -> Values:
    words = reading.dialect.words
    length = {*words["total"], *words.get("evaluation", ())}
    return {key: value for key, value in change.items() if key not in length}


def _wanted(reading: Reading, layout: Layout, *, same_minibatch: bool) -> Reading:
    """The reading as it would be with the layout."""
    sizes = replace(
        reading.sizes,
        envs=layout.envs,
        steps=layout.steps,
        fragment=layout.steps,
        batch=layout.batch,
        epochs=layout.epochs,
        asked=layout.batch,
    )
    if reading.total is not None and reading.rules.total == "steps_per_env":
        reading = replace(reading, total=reading.total * reading.sizes.envs // layout.envs)
    if same_minibatch:
        return replace(reading, sizes=sizes)
    sizes = replace(sizes, minibatch=layout.minibatch, minibatches=0)
    return replace(reading, sizes=sizes, cut=Cut(((layout.minibatch, layout.minibatches),)))


def _reaches(reading: Reading, change: Mapping[str, Any], wanted: Reading) -> bool:
    found = reread(reading, change)
    return found is not None and _essence(found) == _essence(wanted)


def _essence(reading: Reading) -> tuple[int | None, ...]:
    """What decides an update, and how many of them there are."""
    size = reading.sizes
    return size.batch, size.fragment, reading.minibatch, size.epochs, reading.updates


def _thinned(reading: Reading, change: Values, wanted: Reading) -> Values:
    """The change without the settings that it does not need."""
    for key in list(change):
        less = {other: value for other, value in change.items() if other != key}
        if _reaches(reading, less, wanted):
            change = less
    return change
