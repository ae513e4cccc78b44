"""The section of docs/speed.md on vector envs, from result.json."""

from typing import Any

_WORDS = """\
## Vector envs of your own

What nbyt adds to a step of a batched simulator in torch, `examples/point_masses.py`, with one
thread: CPU time of the bare step, of the same step through nbyt (actions as a tensor, observations,
rewards and flags as arrays, final observations, every shape checked), and of nbyt's part alone,
with a simulator that answers at once. In each of {rounds} rounds all three take {steps} steps; the
ratio is that of the first two within a round; what is more than the part alone goes to colder
caches. A target is reached when the median ratio is at most as large. This simulator is small: of
one that takes a millisecond a step, the same microseconds are a smaller share.

Written from `benchmarks/vectors/result.json`; to measure again:

    make bench-vectors

| N | bare step | through nbyt | nbyt's part alone | ratio [95 %] | target |
|---|---|---|---|---|---|
{rows}

Measured on {cpu}, {cores} cores; load average {load_before} when it began.
"""


def section(found: dict[str, Any]) -> str:
    """The section."""
    first = found["sizes"][0]
    rows = "\n".join(_row(one) for one in found["sizes"])
    return _WORDS.format(
        rounds=first["rounds"], steps=first["steps"], rows=rows, **found["machine"]
    )


def _row(one: dict[str, Any]) -> str:
    taken, ratio = one["cpu_seconds_of_a_step"], one["ratio"]
    micro = (f"{1e6 * taken[name]:.0f} µs" for name in ("bare", "nbyt", "adapter"))
    said = f"{ratio['value']:.2f} [{ratio['low']:.2f}, {ratio['high']:.2f}]"
    goal = f"≤ {one['target']:.2f}: {'yes' if one['reached'] else 'NO'}"
    return f"| {one['envs']:,} | {' | '.join(micro)} | {said} | {goal} |"
