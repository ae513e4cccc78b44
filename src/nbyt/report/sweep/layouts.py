"""Layouts of a sweep on its page: their names, their colours, and what is special about them."""

from collections.abc import Sequence

from nbyt.report.page.quantity import layout_name
from nbyt.results.values import Data

KINDS = {"per_sample": "for the same samples", "per_second": "for the same time"}
_COLOURS = 12
_NAMED = 2


def kinds_of(data: Data) -> list[str]:
    """At equal samples, and at equal seconds where that was timed."""
    return [kind for kind in KINDS if data["answer"][kind] is not None]


def colours(layouts: Sequence[Data]) -> list[str]:
    """A colour of the style sheet for each layout, from the shortest T to the longest."""
    order = sorted(range(len(layouts)), key=lambda place: layouts[place]["steps"])
    last = max(len(layouts) - 1, 1)
    found = [""] * len(layouts)
    for rank, place in enumerate(order):
        found[place] = f"t{round(rank * (_COLOURS - 1) / last)}"
    return found


def best_place(data: Data, kind: str) -> int:
    """Where the best layout is in the list."""
    return place_of(data, data["answer"][kind]) or 0


def place_of(data: Data, one: Data | None) -> int | None:
    """Where a layout with these envs and steps is in the list; None for none."""
    if one is None:
        return None
    splits = [(layout["envs"], layout["steps"]) for layout in data["layouts"]]
    wanted = (one["envs"], one["steps"])
    return splits.index(wanted) if wanted in splits else None


def advised_place(data: Data, kind: str) -> int | None:
    """Where the advised layout is in the list; None where nobody asked."""
    return place_of(data, (data["advice"] or {}).get(kind))


def roles(data: Data, kind: str, place: int) -> list[str]:
    """Best, advised, the default of a library: what a layout is beside its sizes."""
    found = ["best"] if place == best_place(data, kind) else []
    found += ["advised"] if place == advised_place(data, kind) else []
    defaults = libraries(data["layouts"][place])
    return found + ([f"default T of {defaults}"] if defaults else [])


def libraries(layout: Data) -> str:
    """The first libraries whose default is nearest to this T, and how many more there are."""
    names = layout["defaults_of"]
    more = f" and {len(names) - _NAMED} more" if len(names) > _NAMED else ""
    return ", ".join(names[:_NAMED]) + more


def told(data: Data, kind: str, place: int) -> str:
    """A layout's name with its roles."""
    name = layout_name(data["layouts"][place])
    return ", ".join([name, *roles(data, kind, place)])


def is_known(layout: Data, kind: str) -> bool:
    """Whether a training of it was finished."""
    return bool(layout[kind]["scores"])
