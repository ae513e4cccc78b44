"""Line: one compared ratio, as the table and the JSON show it."""

from dataclasses import asdict, dataclass
from typing import Any

from benchmarks.timing.rounds import median, ratios
from nbyt.stats.estimate import Estimate

HEADINGS = ("", "ours / peer", "ratio [95 %]", "steps/s", "target")
_WIDTHS = (8, 24, 18, 14, 9)


@dataclass(frozen=True)
class Line:
    """Our speed over a peer's. A target is reached when the median ratio is at least as large."""

    where: str
    ours: str
    peer: str
    rounds: list[float]
    ours_speed: float | None
    peer_speed: float | None
    target: float | None

    @property
    def ratio(self) -> Estimate:
        """The median over the rounds."""
        return median(self.rounds)

    @property
    def reached(self) -> bool | None:
        """Whether the median reaches the target; None without a target."""
        return None if self.target is None else self.ratio.value >= self.target

    def as_dict(self) -> dict[str, Any]:
        """Plain values; a bound that is not known is None."""
        return {**asdict(self), "ratio": self.ratio.as_dict(), "reached": self.reached}


def compare(
    where: str, speeds: dict[str, list[float]], ours: str, peer: str, target: float | None
) -> Line:
    """The line of two contenders of one interleaved measurement."""
    ours_speed, peer_speed = (median(speeds[name]).value for name in (ours, peer))
    rounds = ratios(speeds[ours], speeds[peer])
    return Line(where, ours, peer, rounds, ours_speed, peer_speed, target)


def cells(line: dict[str, Any]) -> tuple[str, ...]:
    """The line's table cells, in the order of HEADINGS."""
    speeds = [line["ours_speed"], line["peer_speed"]]
    speed = "" if None in speeds else " / ".join(_thousands(value) for value in speeds)
    goal = ""
    if line["target"] is not None:
        goal = f"{line['target']:.2f} {'yes' if line['reached'] else 'NO'}"
    names = f"{line['ours']} / {line['peer']}"
    return line["where"], names, with_interval(line["ratio"]), speed, goal


def with_interval(ratio: dict[str, Any]) -> str:
    """A ratio, and its interval where there are rounds enough for one."""
    known = ratio["low"] is not None and ratio["high"] is not None
    interval = f" [{ratio['low']:.2f}, {ratio['high']:.2f}]" if known else ""
    return f"{ratio['value']:.2f}{interval}"


def text_table(lines: list[dict[str, Any]]) -> str:
    """The lines as text, 77 columns wide."""
    rows = [HEADINGS, *(cells(line) for line in lines)]
    return "\n".join(
        " ".join(cell.ljust(width) for cell, width in zip(row, _WIDTHS, strict=True)).rstrip()
        for row in rows
    )


def _thousands(value: float) -> str:
    return f"{value / 1e6:.2f}M" if value >= 1e6 else f"{value / 1e3:.3g}k"
