"""The section of docs/calibration.md on the seeds of sweeps, from coverage.json."""

from pathlib import Path
from typing import Any

from nbyt.stats.runs import FEWEST

RESULT = Path(__file__).with_name("coverage.json")

_WORDS = Path(__file__).with_name("section.md")
_METHODS = {
    "iqm": {
        "shown": "shown",
        "percentile": "plain percentiles",
        "winsorised_t": "winsorised t",
        "bootstrap_t": "bootstrap t",
    },
    "improvement": {
        "shown": "shown",
        "percentile": "percentiles",
        "placements_t": "t of placements",
    },
    "beside_the_best": {"behind": "behind the best", "regret": "regret, by halves"},
}
Data = dict[str, Any]


def section(found: Data) -> str:
    """The section's text, without its heading."""
    low, high = (100 * one for one in found["gate"])
    bare = [row["coverage"]["shown"] for row in found["iqm"] if row["seeds"] >= FEWEST]
    few = [row["coverage"]["shown"] for row in found["iqm"] if row["seeds"] < FEWEST]
    sure = [row["coverage"]["shown"] for row in found["improvement"]]
    return (
        _WORDS.read_text()
        .rstrip()
        .format(
            sets=f"{found['data_sets']:,}",
            low=f"{low:.1f}",
            high=f"{high:.1f}",
            fewest=FEWEST,
            bare=_span(bare),
            few=_span(few),
            sure=_span(sure),
            **{part: _table(found, part) for part in _METHODS},
        )
    )


def _table(found: Data, part: str) -> str:
    """A row for each world, a column for each number of seeds, the methods below each other."""
    rows, (low, high) = found[part], found["gate"]
    seeds = list(dict.fromkeys(row["seeds"] for row in rows))
    lines = [["trainings", "interval", *(f"{count} seeds" for count in seeds)]]
    lines.append(["---"] * len(lines[0]))
    for world in dict.fromkeys(row["world"] for row in rows):
        own = {row["seeds"]: row["coverage"] for row in rows if row["world"] == world}
        for place, (name, word) in enumerate(_METHODS[part].items()):
            cells = [_cell(own[count][name], low, high) for count in seeds]
            lines.append(["" if place else world, word, *cells])
    return "\n".join(f"| {' | '.join(line)} |" for line in lines)


def _cell(share: float, low: float, high: float) -> str:
    text = f"{100 * share:.1f}"
    return text if low <= share <= high else f"**{text}**"


def _span(shares: list[float]) -> str:
    return f"{100 * min(shares):.1f} to {100 * max(shares):.1f}"
