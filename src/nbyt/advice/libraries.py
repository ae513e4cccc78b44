"""The advised layout in the settings of every library."""

from dataclasses import replace

from nbyt.dialects import explain, load
from nbyt.dialects.carrying import NUMBERS, Carried, library_settings, shared_settings
from nbyt.dialects.defaults import others
from nbyt.dialects.explaining import Explanation
from nbyt.dialects.pasting import pasted, pasted_change
from nbyt.dialects.solving import fewest_changes
from nbyt.dialects.translating import translated
from nbyt.errors import DialectError
from nbyt.layout import Layout
from nbyt.results.advice import Pasted
from nbyt.results.values import Data

_OWN = "nbyt"


def settings(layout: Layout, learning: Data, own: Carried | None = None) -> list[Pasted]:
    """Write the layout and these settings of PPO for every library, as text to paste.

    own: the user's settings, whose library comes first: only what changes is pasted there.
    """
    texts: list[Pasted | None] = []
    if own is not None:
        mine = own.source.dialect.id
        texts = [_changed(layout, learning, own) or _written(mine, layout, learning, own)]
    known = [text.id for text in texts if text]
    texts += [_written(name, layout, learning, own) for name in others() if name not in known]
    return [text for text in texts if text is not None]


def _changed(layout: Layout, learning: Data, own: Carried) -> Pasted | None:
    """Return what changes in the user's own settings; None where their library cannot say it."""
    dialect, values = own.source.dialect, own.values
    change = fewest_changes(
        own.source.reading, layout, same_minibatch=values["minibatch"] == layout.minibatch
    )
    if change is None:
        return None
    other = {name: value for name, value in learning.items() if values.get(name) != value}
    change |= {
        own.settings[name].key: other[name]
        for name in NUMBERS.keys() & other.keys() & values.keys()
    }
    change |= library_settings(dialect, other)
    return Pasted(
        id=dialect.id,
        library=dialect.library,
        paste=pasted_change(dialect, change),
        exact=True,
        lost=(),
        changes=change,
    )


def _written(name: str, layout: Layout, learning: Data, own: Carried | None) -> Pasted | None:
    """Write everything for a library; None for a layout that it cannot have."""
    target, total = load(name), None if own is None else own.values.get("total")
    try:
        found = translated(_in_our_words(layout, learning, total), target)
    except DialectError:
        return None
    also = library_settings(target, learning)
    known = {one for one, word in NUMBERS.items() if target.key(word)} | set(
        shared_settings(target, also)
    )
    unsaid = [f"{one}={value}" for one, value in learning.items() if one not in known]
    return Pasted(
        id=name,
        library=target.library,
        paste=pasted(target, {**found.settings, **also}),
        exact=found.is_exact,
        lost=tuple(one.message for one in found.differences if one.loss),
        unsaid=(*unsaid, *(() if own is None else own.left)),
    )


def _in_our_words(layout: Layout, learning: Data, total: int | None) -> Explanation:
    """Return the layout as nbyt's own settings, without a total where none was given."""
    sizes = {
        "envs": layout.envs,
        "steps": layout.steps,
        "minibatch": layout.minibatch,
        "epochs": layout.epochs,
    }
    base = {name: value for name, value in learning.items() if name in NUMBERS}
    found = explain(_OWN, **sizes, **base)
    return Explanation(replace(found.reading, total=total))
