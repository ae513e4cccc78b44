"""The section of docs/speed.md on the callback, from result.json."""

from statistics import median
from typing import Any

_WORDS = """\
## The SB3 callback

How much longer Stable-Baselines3's PPO takes with `GradientProbe()` at its defaults: one of
{every} rollouts is measured, and its mini-batches are watched. Two trainings of the same seed, one
with the probe and one without, each in a process of its own with one thread of torch, take turns
of {turn} rollouts. In each of {rounds} rounds both make {every} rollouts, one of them measured, and
the ratio of their times is taken within the round. After a round the probe goes to the other one,
since two processes of the same program differ a little for as long as they live. The table gives
the median ratio with its 95 % interval, the median seconds of a round, and the median and the
longest of the single measurements; watching the mini-batches is not in these, but in the ratio.

A target is reached when the median ratio is at most as large. Everything but the layout is
Stable-Baselines3's default. What is paid once in a process, imports and first calls, is not timed.
{weights}

Written from `benchmarks/callback/result.json`; to measure again:

    make bench-callback

| env | layout | time with / without [95 %] | seconds a round | one probe | target |
|---|---|---|---|---|---|
{rows}

Measured on {cpu}, {cores} cores; load average {load_before} when it began.
"""


def section(found: dict[str, Any]) -> str:
    """The section; a quick trial says that it is one."""
    words = _WORDS.format(
        every=found["every"],
        turn=found["turn"],
        rounds=found["rounds"],
        weights=_weights(found["tasks"]),
        rows="\n".join(_row(task) for task in found["tasks"]),
        **found["machine"],
    )
    if not found["quick"]:
        return words
    return words + "\n**A quick trial, to see that everything runs: not a measurement.**\n"


def _row(task: dict[str, Any]) -> str:
    without, with_it = (median(task["seconds"][name]) for name in ("without", "with"))
    probe = f"{task['probe']['value']:.2f} s, longest {max(task['probe_seconds']):.2f} s"
    goal = f"≤ {task['target']:.2f}: {'yes' if task['reached'] else 'NO'}"
    cells = (
        task["env"],
        f"{task['envs']}x{task['steps']}",
        ratio_in_words(task["ratio"]),
        f"{with_it:.1f} / {without:.1f}",
        probe,
        goal,
    )
    return f"| {' | '.join(cells)} |"


def ratio_in_words(ratio: dict[str, Any]) -> str:
    """Three decimals: a target of 1.05 is hard to tell with two."""
    known = ratio["low"] is not None and ratio["high"] is not None
    interval = f" [{ratio['low']:.3f}, {ratio['high']:.3f}]" if known else ""
    return f"{ratio['value']:.3f}{interval}"


def _weights(tasks: list[dict[str, Any]]) -> str:
    same = sum(task["same_weights"] for task in tasks)
    if same == len(tasks):
        return "In every task both trainings ended with the same weights, bit for bit."
    return f"Only in {same} of {len(tasks)} tasks both trainings ended with the same weights."
