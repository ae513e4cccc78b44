"""The two drawings of the proving ground: landscapes of loss over T, and loss against cost."""

from typing import Any

import numpy as np

from benchmarks.svg import Box, drawing, line, rect, text

Result = dict[str, Any]

LINES = {
    "samples": ("equal samples", "one"),
    "measured": ("equal time on this machine", "two"),
    "parallel:16": ("equal time on parallel hardware, c = 16", "three"),
}
# Each is marked by its first letter.
DEFAULTS = {"rsl_rl": 24, "CleanRL": 128, "SB3": 2048}
PLATEAU = 0.05

_STYLE = """
    .line { fill: none; stroke-width: 2; }
    .bar { stroke-width: 3.5; }
    line.bar { stroke-dasharray: none; }
    .one { stroke: #0072b2; }
    .two { stroke: #009e73; stroke-dasharray: 2 3; }
    .three { stroke: #d55e00; stroke-dasharray: 7 3; }
    .main { stroke: #d55e00; }
    .four { stroke: #8c959f; }
    .five { stroke: #aa3377; stroke-dasharray: 10 3 2 3; }
    .plateau { fill: #1a7f37; fill-opacity: 0.10; }
    .free-band { fill: #8c959f; fill-opacity: 0.15; }
    .one-band { fill: #0072b2; fill-opacity: 0.15; }
    .two-band { fill: #009e73; fill-opacity: 0.15; }
    .three-band { fill: #d55e00; fill-opacity: 0.15; }
    .default { stroke: #59636e; stroke-dasharray: 1 3; }
    .point { fill: #d55e00; }
    .free { stroke: #1f2328; stroke-dasharray: 5 4; }
"""
_DARK = """
      .one { stroke: #56b4e9; }
      .three { stroke: #e69f00; }
      .main { stroke: #e69f00; }
      .five { stroke: #d8a1c4; }
      .one-band { fill: #56b4e9; }
      .three-band { fill: #e69f00; }
      .default { stroke: #a5afba; }
      .point { fill: #e69f00; }
      .free { stroke: #f0f6fc; }
"""
_COLUMNS, _WIDTH, _HEIGHT = 4, 182, 118
_X, _Y = 212, 186


def landscapes(result: Result, batch: int = 2048) -> str:
    """For every task what each T reaches of the best, under three objectives."""
    cells = [cell for cell in result["cells"] if cell["batch"] == batch and not cell["stagger"]]
    rows = -(-len(cells) // _COLUMNS)
    parts = [_key(cells)]
    for place, cell in enumerate(cells):
        left, top = 44 + _X * (place % _COLUMNS), 92 + _Y * (place // _COLUMNS)
        parts.append(_panel(cell, left, top, first=place % _COLUMNS == 0))
    about = (
        "One panel for each task: the share of the best layout's gain that each T reaches, at "
        "equal samples and at equal time; the bars below mark where it loses at most 5 %."
    )
    title = f"What each T reaches of the best, B = {batch:,}"
    return drawing(884, 92 + _Y * rows, title, about, parts, style=_STYLE, dark=_DARK)


def _key(cells: list[dict[str, Any]]) -> str:
    parts, x = [], 44.0
    for objective, (words, kind) in LINES.items():
        if objective in cells[0]["losses"]:
            parts += [line(f"line {kind}", x, 24, x + 30, 24), text(x + 36, 28, words, "word")]
            x += 56 + 6.6 * len(words)
    words = (
        "band of a line: 95 % interval; green, and bars below: T that lose at most 5 %; dotted: "
    )
    named = [f"{name[0]} {name}, T = {steps:,}" for name, steps in DEFAULTS.items()]
    parts.append(text(44, 52, words + "; ".join(named), "soft small"))
    return "\n".join(parts)


def _panel(cell: dict[str, Any], left: float, top: float, *, first: bool) -> str:
    octaves = np.log2(np.array(cell["steps"], float))
    box = Box(left, top, _WIDTH, _HEIGHT, (0, 11), (0, 1.04))
    mark = ", sealed" if cell["sealed"] else ""
    name = cell["env"].rpartition(":")[2].removesuffix("-bsuite")
    parts = [text(left, top - 10, name + mark, "word")]
    parts.append(rect("plateau", left, box.y(1), _WIDTH, box.y(1 - PLATEAU) - box.y(1)))
    for level in (0, 0.5, 1):
        parts.append(line("grid", left, box.y(level), left + _WIDTH, box.y(level)))
        if first:
            parts.append(
                text(left - 6, box.y(level) + 4, f"{100 * level:.0f} %", "soft right small")
            )
    for name, steps in DEFAULTS.items():
        x = box.x(np.log2(steps))
        parts.append(line("default", x, top, x, top + _HEIGHT))
        parts.append(text(x - 3, top + _HEIGHT - 4, name[0], "soft right small"))
    for steps in (1, 8, 64, 512):
        label = f"T={steps}" if steps == 1 else str(steps)
        parts.append(text(box.x(np.log2(steps)), top + _HEIGHT + 30, label, "soft mid small"))
    for row, (objective, (_, kind)) in enumerate(LINES.items()):
        if objective not in cell["losses"]:
            continue
        losses = cell["losses"][objective]["loss"]
        value, low, high = (
            np.clip([1 - one[name] for one in losses], 0, 1) for name in ("value", "high", "low")
        )
        outline = box.path(np.append(octaves, octaves[::-1]), np.append(high, low[::-1]))
        parts.append(f'<polygon class="{kind}-band" points="{outline}"/>')
        parts.append(f'<polyline class="line {kind}" points="{box.path(octaves, value)}"/>')
        y = top + _HEIGHT + 5 + 5 * row
        for octave, one in zip(octaves, losses, strict=True):
            if one["value"] <= PLATEAU:
                x1, x2 = box.x(max(octave - 0.5, 0)), box.x(min(octave + 0.5, 11))
                parts.append(line(f"bar {kind}", x1, y, x2, y))
    return "\n".join(parts)


# Rules that are drawn, of all that the table has; the others would hide each other.
_DRAWN = {
    "race": "main",
    "grid, smoothed": "one",
    "successive halving": "two",
    "Optuna TPE, median pruner": "five",
    "random, best of k": "four",
}
_BUDGETS = (1, 2, 4, 8)
_MOST = 0.3
_TITLES = {"samples": "equal samples", "measured": "equal time, this machine"}


def costs(
    result: Result, objectives: tuple[str, ...] = ("parallel:16", "parallel:64", "samples")
) -> str:
    """Loss against the trainings that choosing cost, one panel an objective."""
    parts, x, y = [], 60.0, 24.0
    for rule, kind in [*_DRAWN.items(), ("constant, free", "free")]:
        if rule in result["rivals"] or kind == "free":
            width = 56 + 7 * len(rule)
            if x + width > 884:
                x, y = 60.0, y + 22
            parts += [line(f"line {kind}", x, y, x + 26, y), text(x + 32, y + 4, rule, "word")]
            x += width
    for place, objective in enumerate(objectives):
        parts += _cost_panel(result["rivals"], objective, 60 + 280 * place, 106)
    about = "Mean loss of each way of choosing T against the trainings it spends on choosing."
    title = "What choosing costs and loses"
    return drawing(884, 370, title, about, parts, style=_STYLE, dark=_DARK)


def _cost_panel(rivals: Result, objective: str, left: float, top: float) -> list[str]:
    box = Box(left, top, 220, 200, (-0.25, 3.25), (0, _MOST))
    name = _TITLES.get(objective, f"equal time, T + {objective.rpartition(':')[2]}")
    parts = [text(left, top - 16, f"mean loss at {name}", "word")]
    for level in np.arange(0, _MOST + 0.01, 0.05):
        parts.append(line("grid", left, box.y(level), left + 220, box.y(level)))
        parts.append(text(left - 6, box.y(level) + 4, f"{100 * level:.0f} %", "soft right small"))
    for place, budget in enumerate(_BUDGETS):
        parts.append(text(box.x(place), top + 218, str(budget), "soft mid"))
    parts.append(text(left + 110, top + 240, "trainings spent on choosing", "soft mid small"))
    free = rivals["constant"][objective]["0"]["loss"]
    low, high = box.y(free["low"]), box.y(min(free["high"], _MOST))
    parts.append(rect("free-band", left, high, 220, low - high))
    parts.append(line("line free", left, box.y(free["value"]), left + 220, box.y(free["value"])))
    for rule, kind in reversed(_DRAWN.items()):
        if objective in rivals.get(rule, {}):
            rows = [rivals[rule][objective][str(budget)]["loss"] for budget in _BUDGETS]
            parts += _rule(box, rows, kind, intervals=rule == "race")
    return parts


def _rule(box: Box, rows: list[dict[str, float]], kind: str, *, intervals: bool) -> list[str]:
    values = np.array([one["value"] for one in rows])
    places = np.arange(len(rows), dtype=float)
    for left in np.flatnonzero((values[:-1] > _MOST) & (values[1:] <= _MOST)):
        # The line enters the panel on its way to the next point.
        share = (values[left] - _MOST) / (values[left] - values[left + 1])
        places[left], values[left] = left + share, _MOST
    shown = values <= _MOST
    points = box.path(places[shown], values[shown])
    parts = [f'<polyline class="line {kind}" points="{points}"/>']
    for place, one in enumerate(rows):
        if intervals and shown[place]:
            x, low, high = box.x(place), box.y(one["low"]), box.y(min(one["high"], _MOST))
            parts.append(line(f"bar {kind}", x, low, x, high))
            parts.append(
                f'<circle class="point" cx="{x:.1f}" cy="{box.y(values[place]):.1f}" r="4"/>'
            )
    return parts
