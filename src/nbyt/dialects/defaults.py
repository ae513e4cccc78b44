"""The libraries' default T, and which of some layouts is nearest to each."""

import contextlib
from collections.abc import Sequence
from math import log
from typing import Any

from nbyt.dialects.dialect import load, names
from nbyt.dialects.explaining import explain
from nbyt.errors import DialectError

# The libraries that are named first.
FIRST = ("sb3", "cleanrl", "rllib", "rsl_rl", "brax", "rejax")
_OWN = "nbyt"


def defaults(layouts: Sequence[tuple[int, int]]) -> list[dict[str, Any]]:
    """Return every library that has a default T, and the compared layout with the nearest T.

    T is where a library cuts advantages. envs: None where a library has no default for it.
    """
    rows = []
    for dialect in map(load, others()):
        envs, steps = None, dialect.defaults.get(dialect.key("steps"))
        with contextlib.suppress(DialectError):
            sizes = explain(dialect.id).layout
            envs, steps = sizes["batch"] // sizes["fragment"], sizes["fragment"]
        if not isinstance(steps, int):
            continue
        near = min(layouts, key=lambda layout: abs(log(layout[1] / steps)))
        rows.append(
            {
                "id": dialect.id,
                "library": dialect.library,
                "envs": envs,
                "steps": steps,
                "placed_at": list(near),
                "exact": near[1] == steps,
            }
        )
    return rows


def others() -> list[str]:
    """Return all dialects but nbyt's own, those with most users first."""
    rest = [name for name in names() if name not in (*FIRST, _OWN)]
    return [*FIRST, *rest]
