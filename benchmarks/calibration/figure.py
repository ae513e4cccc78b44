"""The drawing of the calibration page: every gate's coverage, field by field, as SVG text."""

from typing import Any

from benchmarks.svg import drawing, text

_STYLE = """
    .pass { fill: #009e73; fill-opacity: 0.15; stroke: #009e73; stroke-dasharray: 4 3; }
    .holds { fill: none; stroke: #0072b2; stroke-width: 1.5; }
    .misses { fill: #d55e00; stroke: #d55e00; }
    .said { fill: none; stroke: #8c959f; stroke-width: 1.2; }
"""
_DARK = """
      .holds { stroke: #56b4e9; }
      .misses { fill: #e69f00; stroke: #e69f00; }
      .said { stroke: #7d8590; }
"""

_LEFT, _TOP, _WIDTH, _ROW = 190, 64, 620, 26
LEAST = 0.85


def strips(rows: list[tuple[str, list[dict[str, Any]]]], limits: tuple[float, float]) -> str:
    """One row a field, one mark a gate; the band is where the gate lets through."""
    bottom = _TOP + _ROW * len(rows)
    left, right = (_x(limit) for limit in limits)
    parts = [
        f'<rect class="pass" x="{left:.1f}" y="{_TOP}" width="{right - left:.1f}" '
        f'height="{bottom - _TOP}"/>',
        *_key(),
    ]
    for tick in (0.85, 0.9, 0.95, 1.0):
        x = f"{_x(tick):.1f}"
        parts.append(f'<line class="grid" x1="{x}" x2="{x}" y1="{_TOP}" y2="{bottom}"/>')
        parts.append(text(_x(tick), bottom + 20, f"{100 * tick:.0f} %", "soft mid"))
    words = "share of pools whose interval holds the truth"
    parts.append(text(_LEFT + _WIDTH / 2, bottom + 42, words, "soft mid"))
    for place, (name, gates) in enumerate(rows):
        y = _TOP + _ROW * place + _ROW / 2
        parts.append(text(_LEFT - 12, y + 4, name, "word right"))
        parts += [_mark(gate, y + _spread(turn)) for turn, gate in enumerate(gates)]
    about = "One row for each field, one mark for each case, T and gradient: its measured coverage."
    return drawing(
        868,
        bottom + 58,
        "Measured coverage of 95 % intervals",
        about,
        parts,
        style=_STYLE,
        dark=_DARK,
    )


def _spread(turn: int) -> float:
    """A small shift up or down, so that equal marks do not hide each other."""
    return 8.0 * ((turn * 0.618034) % 1 - 0.5) * 2


def _mark(gate: dict[str, Any], y: float) -> str:
    x = _x(max(gate["coverage"], LEAST))
    if gate["passes"]:
        return f'<circle class="holds" cx="{x:.1f}" cy="{y:.1f}" r="3"/>'
    kind = "said" if gate["flagged"] >= 0.5 else "misses"
    if gate["coverage"] < LEAST:
        points = f"{x + 3:.1f},{y - 4:.1f} {x - 4:.1f},{y:.1f} {x + 3:.1f},{y + 4:.1f}"
        return f'<polygon class="{kind}" points="{points}"/>'
    return f'<rect class="{kind}" x="{x - 3:.1f}" y="{y - 3:.1f}" width="6" height="6"/>'


def _key() -> list[str]:
    return [
        '<circle class="holds" cx="28" cy="26" r="3"/>',
        text(38, 30, "passes", "word"),
        '<rect class="said" x="98" y="23" width="6" height="6"/>',
        text(111, 30, "does not, and is printed as approximate", "word"),
        '<rect class="misses" x="376" y="23" width="6" height="6"/>',
        text(389, 30, "does not", "word"),
        '<polygon class="said" points="465,22 458,26 465,30"/>',
        text(473, 30, "below 85 %", "word"),
        '<rect class="pass" x="566" y="19" width="26" height="14"/>',
        text(600, 30, "what 1,000 pools at 95 % may give", "word"),
    ]


def _x(coverage: float) -> float:
    return _LEFT + _WIDTH * (coverage - LEAST) / (1 - LEAST)
