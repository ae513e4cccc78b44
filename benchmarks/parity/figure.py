"""The two drawings of the parity page, as SVG text that follows a light or dark theme."""

from collections.abc import Callable
from itertools import pairwise

import numpy as np

from benchmarks.parity.compare import BOUND, Standing, iqm, resampled
from benchmarks.parity.tasks import LIBRARIES
from benchmarks.svg import Box, drawing, text

NAMES = {"nbyt": "nbyt", "sb3": "Stable-Baselines3"}

_STYLE = """
    .random { stroke: #59636e; fill: none; stroke-dasharray: 2 3; }
    .bound { fill: #009e73; fill-opacity: 0.15; stroke: #009e73; stroke-dasharray: 4 3; }
    .line { fill: none; stroke-width: 2; }
    .nbyt { stroke: #0072b2; }
    .sb3 { stroke: #d55e00; stroke-dasharray: 6 3; }
    .nbyt-band { fill: #0072b2; fill-opacity: 0.2; }
    .sb3-band { fill: #d55e00; fill-opacity: 0.2; }
    .interval { stroke: #1f2328; stroke-width: 2; fill: none; }
    .point { fill: #1f2328; }
"""
_DARK = """
      .random { stroke: #a5afba; }
      .nbyt { stroke: #56b4e9; }
      .sb3 { stroke: #e69f00; }
      .nbyt-band { fill: #56b4e9; }
      .sb3-band { fill: #e69f00; }
      .interval { stroke: #f0f6fc; }
      .point { fill: #f0f6fc; }
"""


def curves(standings: list[Standing]) -> str:
    """Learning curves, two panels a row: IQM over seeds with its 95 % interval."""
    rows = (len(standings) + 1) // 2
    parts = [_key(70, 26)]
    for place, now in enumerate(standings):
        parts.append(_curve_panel(now, 70 + 430 * (place % 2), 84 + 290 * (place // 2)))
    about = "For each task the mean return of training episodes against environment steps."
    return drawing(
        868,
        66 + 290 * rows,
        "Learning curves of nbyt and SB3",
        about,
        parts,
        style=_STYLE,
        dark=_DARK,
    )


def differences(standings: list[Standing]) -> str:
    """Every difference with its interval, against the bound."""
    entries = [(now, comparison) for now in standings for comparison in now.comparisons]
    span = max(0.2, *(abs(e) for _, c in entries for e in (c.difference.low, c.difference.high)))
    span = np.ceil(span * 20) / 20
    height = 34 * len(entries)
    box = Box(250, 40, 560, height, (-span, span), (0, len(entries)))
    left, right = box.x(-BOUND), box.x(BOUND)
    parts = [
        f'<rect class="bound" x="{left:.1f}" y="40" width="{right - left:.1f}" height="{height}"/>',
        f'<line class="axis" x1="{box.x(0):.1f}" x2="{box.x(0):.1f}" y1="40" y2="{40 + height}"/>',
        _x_axis(box, lambda tick: f"{100 * tick:+.0f} %" if tick else "0"),
        text(530, 40 + height + 44, "(nbyt − SB3) / (SB3's best − random)", "soft mid"),
        text(530, 28, "within ±10 %: agrees", "soft mid"),
    ]
    for place, (now, comparison) in enumerate(entries):
        y = 40 + 34 * place + 17
        ends = (box.x(comparison.difference.low), box.x(comparison.difference.high))
        label = f"{now.task.env}, {comparison.metric}"
        parts.append(text(238, y + 4, label, "word right"))
        parts.append(
            f'<line class="interval" x1="{ends[0]:.1f}" x2="{ends[1]:.1f}" y1="{y}" y2="{y}"/>'
        )
        parts += [
            f'<line class="interval" x1="{x:.1f}" x2="{x:.1f}" y1="{y - 5}" y2="{y + 5}"/>'
            for x in ends
        ]
        centre = box.x(comparison.difference.value)
        parts.append(f'<circle class="point" cx="{centre:.1f}" cy="{y}" r="4.5"/>')
    about = "One row per task and metric: the difference as a point, its 95 % interval as a bar."
    return drawing(
        868,
        height + 100,
        "Differences between nbyt and SB3",
        about,
        parts,
        style=_STYLE,
        dark=_DARK,
    )


def _curve_panel(now: Standing, left: float, top: float) -> str:
    xs = now.task.batch * np.arange(1, now.task.updates + 1) / 1000
    bands = {name: _band(now.curves[name]) for name in LIBRARIES}
    values = [now.random, *(bound for band in bands.values() for bound in band.ravel())]
    pad = 0.05 * (max(values) - min(values))
    limits = (min(values) - pad, max(values) + pad)
    box = Box(left, top, 340, 200, (0, float(xs[-1])), limits)
    random = f"{box.y(now.random):.1f}"
    parts = [
        text(left, top - 10, f"{now.task.env}, {len(now.seeds)} seeds each", "word big"),
        _x_axis(box, lambda tick: f"{tick:g}"),
        _y_axis(box),
        f'<line class="random" x1="{left}" x2="{left + 340}" y1="{random}" y2="{random}"/>',
        text(left + 170, top + 238, "environment steps (thousands)", "soft mid"),
        f'<g transform="translate({left - 50} {top + 100}) rotate(-90)">'
        f"{text(0, 0, 'return of an episode', 'soft mid')}</g>",
    ]
    for name in reversed(LIBRARIES):
        low, high = bands[name]
        outline = box.path(np.append(xs, xs[::-1]), np.append(high, low[::-1]))
        parts.append(f'<polygon class="{name}-band" points="{outline}"/>')
    for name in reversed(LIBRARIES):
        line = box.path(xs, iqm(now.curves[name]))
        parts.append(f'<polyline class="line {name}" points="{line}"/>')
    return "\n".join(parts)


def _band(curves: np.ndarray) -> np.ndarray:
    """Bounds [2, updates] of the 95 % interval of the IQM at each update."""
    bounds = [
        np.quantile(resampled(column, np.random.default_rng(0)), [0.025, 0.975])
        for column in curves.T
    ]
    return np.array(bounds).T


def _key(left: float, top: float) -> str:
    parts, x = [], left
    for name in LIBRARIES:
        parts.append(f'<rect class="{name}-band" x="{x}" y="{top - 11}" width="34" height="14"/>')
        parts.append(
            f'<line class="line {name}" x1="{x}" x2="{x + 34}" y1="{top - 4}" y2="{top - 4}"/>'
        )
        parts.append(text(x + 42, top, NAMES[name], "word"))
        x += 60 + 9 * len(NAMES[name])
    parts.append(f'<line class="random" x1="{x}" x2="{x + 34}" y1="{top - 4}" y2="{top - 4}"/>')
    parts.append(text(x + 42, top, "random actions", "word"))
    parts.append(text(x + 160, top, "line: IQM over seeds; band: its 95 % interval", "soft"))
    return "\n".join(parts)


def _x_axis(box: Box, label: Callable[[float], str]) -> str:
    bottom, right = box.top + box.height, box.left + box.width
    parts = [f'<line class="axis" x1="{box.left}" x2="{right}" y1="{bottom}" y2="{bottom}"/>']
    for tick in _ticks(*box.x_range):
        x = f"{box.x(tick):.1f}"
        parts.append(f'<line class="axis" x1="{x}" x2="{x}" y1="{bottom}" y2="{bottom + 5}"/>')
        parts.append(text(float(x), bottom + 20, label(tick), "soft mid"))
    return "\n".join(parts)


def _y_axis(box: Box) -> str:
    left, right, bottom = box.left, box.left + box.width, box.top + box.height
    parts = [f'<line class="axis" x1="{left}" x2="{left}" y1="{box.top}" y2="{bottom}"/>']
    for tick in _ticks(*box.y_range):
        y = f"{box.y(tick):.1f}"
        parts.append(f'<line class="grid" x1="{box.left}" x2="{right}" y1="{y}" y2="{y}"/>')
        parts.append(text(box.left - 6, float(y) + 4, f"{tick:g}", "soft right"))
    return "\n".join(parts)


def _ticks(low: float, high: float) -> list[float]:
    """Four to nine round numbers from low to high."""
    sizes = [m * 10.0**e for e in range(-3, 6) for m in (1, 2, 5)]
    step = next(size for size in sizes if (high - low) / size <= 8)
    first, last = int(np.ceil(low / step - 1e-9)), int(np.floor(high / step + 1e-9))
    ticks = [round(step * number, 6) for number in range(first, last + 1)]
    assert all(a < b for a, b in pairwise(ticks))
    return ticks
