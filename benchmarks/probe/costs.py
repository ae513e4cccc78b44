"""Costs: how many times as long as something plain a thing takes, and how many are allowed."""

from typing import Any

from benchmarks.timing.lines import with_interval
from benchmarks.timing.rounds import median, ratios


def cost(
    where: str, speeds: dict[str, list[float]], what: str, unit: str, most: float | None
) -> dict[str, Any]:
    """The time of `what` in those of `unit`, from the speeds of one interleaved measurement."""
    rounds = ratios(speeds[unit], speeds[what])
    ratio = median(rounds)
    reached = None if most is None else ratio.value <= most
    found = {"where": where, "what": what, "unit": unit, "rounds": rounds}
    return {**found, "ratio": ratio.as_dict(), "most": most, "reached": reached}


def cells(found: dict[str, Any]) -> tuple[str, ...]:
    """The row of a table: where, what, how many, and how many are allowed."""
    goal = ""
    if found["most"] is not None:
        goal = f"at most {found['most']:g}: {'yes' if found['reached'] else 'NO'}"
    return found["where"], found["what"], with_interval(found["ratio"]), goal
