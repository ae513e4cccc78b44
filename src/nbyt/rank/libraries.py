"""Where the libraries' defaults stand: each by the T it cuts advantages at, in the user's batch."""

from collections.abc import Sequence
from math import log
from typing import Any

from nbyt.dialects import explain, load, names, translate
from nbyt.dialects.dialect import Dialect
from nbyt.errors import DialectError
from nbyt.layout import Layout

# The libraries whose settings are written out first.
FIRST = ("sb3", "cleanrl", "rllib", "rsl_rl", "brax", "rejax")
_OWN = "nbyt"


def defaults(layouts: Sequence[tuple[int, int]]) -> list[dict[str, Any]]:
    """Every library that has a default T, and the compared layout whose T is nearest to it."""
    found = []
    for name in _others():
        dialect = load(name)
        sizes = _default_sizes(dialect)
        if sizes is None:
            continue
        steps = sizes["steps"]
        near = min(layouts, key=lambda layout: abs(log(layout[1] / steps)))
        found.append(
            {
                "id": name,
                "library": dialect.library,
                "envs": sizes["envs"],
                "steps": steps,
                "placed_at": list(near),
                "exact": near[1] == steps,
            }
        )
    return found


def settings(layout: Layout, learning: dict[str, float]) -> list[dict[str, Any]]:
    """The layout in every library's words, as text to paste, with gamma, lambda and the rate."""
    found = []
    sizes = {
        "envs": layout.envs,
        "steps": layout.steps,
        "minibatch": layout.minibatch,
        "epochs": layout.epochs,
    }
    for name in _others():
        try:
            said = translate(_OWN, name, **sizes, **learning)
        except DialectError:  # a layout that this library cannot have
            continue
        found.append(
            {
                "id": name,
                "library": said.target.dialect.library,
                "paste": said.paste,
                "exact": said.is_exact,
                "lost": [one.message for one in said.differences if one.loss],
            }
        )
    return found


def _others() -> list[str]:
    """All dialects but our own, those with most users first."""
    rest = [name for name in names() if name not in (*FIRST, _OWN)]
    return [*FIRST, *rest]


def _default_sizes(dialect: Dialect) -> dict[str, Any] | None:
    """N and T of the defaults, T being where advantages are cut; N is None where there is none."""
    try:
        layout = explain(dialect.id).layout
    except DialectError:
        steps = dialect.defaults.get(dialect.key("steps"))
        return None if not isinstance(steps, int) else {"envs": None, "steps": steps}
    return {"envs": layout["batch"] // layout["fragment"], "steps": layout["fragment"]}
