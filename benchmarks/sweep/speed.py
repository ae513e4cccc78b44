"""The section of docs/speed.md on many seeds together, from result.json."""

from statistics import median
from typing import Any

_WORDS = """\
## Many seeds together

{seeds} seeds of CartPole-v1, {total:,} samples each, at {envs}x{steps}: in one compiled program, as
`nbyt sweep` trains them, and one after the other. *Program*: in one process, without compiling.
*Command*: as a user sees it, from the command line to the result, with an empty cache of programs:
one `nbyt sweep`, and {seeds} times `nbyt train`, of which the first compiles for the others. Both
take turns in {rounds} rounds; the ratio is taken within a round, and its median counts.

Written from `benchmarks/sweep/result.json`; to measure again:

    make bench-sweep

| what | one after the other | together | ratio, round by round | target |
|---|---|---|---|---|
{rows}

Measured on {cpu}, {cores} cores; load average {load_before} when it began.
"""
_TARGETS = {"program": 1.3, "command": 3.0}


def section(found: dict[str, Any]) -> str:
    """The section, with the parts that were measured."""
    parts = [part for part in _TARGETS if part in found]
    return _WORDS.format(
        seeds=found["seeds"],
        total=found["total"],
        envs=found["layout"]["envs"],
        steps=found["layout"]["steps"],
        rounds=min(len(found[part]["ratios"]) for part in parts),
        rows="\n".join(_row(part, found[part]) for part in parts),
        **found["machine"],
    )


def _row(part: str, own: dict[str, Any]) -> str:
    ratio = median(own["ratios"])
    goal = f"≥ {_TARGETS[part]}: {'yes' if ratio >= _TARGETS[part] else 'NO'}"
    rounds = ", ".join(f"{one:.2f}" for one in own["ratios"])
    seconds = [f"{median(own[name]):.1f} s" for name in ("apart", "together")]
    return f"| {part} | {' | '.join(seconds)} | {rounds} | {goal} |"
