"""docs/probe-speed.md from result.json: every number on the page comes from the file.

python -m benchmarks.probe.report [RESULT.json] [PAGE.md]
"""

import json
import sys
from pathlib import Path
from typing import Any

from benchmarks.agreement.stages import CARTPOLE
from benchmarks.probe.command import OPTIONS
from benchmarks.probe.costs import cells as cost_cells
from benchmarks.probe.memory import TARGET_GB, WITHIN
from benchmarks.probe.norms import BATCH
from benchmarks.probe.run import RESULT
from benchmarks.timing.lines import HEADINGS, cells
from benchmarks.timing.machine import in_words
from nbyt.measure.request import CHAINS

PAGE = Path(__file__).parents[2] / "docs" / "probe-speed.md"

_INTRODUCTION = """\
# Speed and memory of the probe

Each part is measured in one run: in each of {rounds} rounds every contender runs for about
{round_seconds:g} s, in rotating order, and the ratio is taken within the round. Tables give the
median ratio and the 95 % interval of that median from order statistics over the rounds. A target
is reached when the median reaches it. Absolute speeds are this machine's; ratios travel better.

Written by `python -m benchmarks.probe.report` from `benchmarks/probe/result.json`; no number here
is typed by hand. To measure again, on a machine that does nothing else:

    make bench-probe
"""

_WIDTH = """\
## Against brute force

What `nbyt probe` does with one pool can be done by brute force: for every layout, collect many
fresh batches, take the gradient of each, and look at their spread. Both are asked for the variance
of the actor's, the critic's and the total gradient on CartPole-v1 (`{command}`), batch 2,048, at
{lengths} lengths T from 1 to 2,048. Brute force gets as many batches as it needs for intervals of
the same mean width, on the log scale: {needed:.0f} of every layout.

| batches of brute force | its time over the probe's [95 %] | target |
|---|---|---|
{rows}

*An episode apart* lets the envs of a layout go on for an episode's length between two batches, so
that replicates are independent, as the interval assumes. *Going on* takes them one after the
other: cheaper, and for short T its intervals are too narrow, because consecutive batches hold the
same stretch of an episode. The probe also gives bias, cosine and alignment, for which brute force
would need a reference besides.

Mean log-width: probe {probe:.3f} with {chains} chains; {brute}. By the law of 1/√R
the ratio of the two should be {expected:.2f}; it is {found:.2f}.
"""

_NORMS = """\
## Per-sample gradient norms

|grad of A log pi(a|s)| of every sample of a batch of {batch:,}; all contenders give the same norms
to a thousandth, which is checked before they are timed. nbyt takes them from each layer's inputs
and signals and writes no gradient down. torch.func is `vmap(grad)` in the fastest chunk size;
BackPACK writes out every sample's gradient (`BatchGrad`), BackPACK L2 is its extension for norms of
layers (`BatchL2Grad`), by the same idea as ours.
"""


def page(found: dict[str, Any]) -> str:
    """The whole page."""
    parts = [_INTRODUCTION.format(**found)]
    if found["quick"]:
        parts.append("**A quick trial, to see that everything runs: not a measurement.**\n")
    parts += [_width(found["width"]), _norms(found["norms"]), _fragments(found["fragments"])]
    parts += [_command(found["command"]), _memory(found["memory"]), in_words(found["machine"])]
    return "\n".join(parts)


def main() -> None:
    """Write the page."""
    source, target = [*map(Path, sys.argv[1:]), *(RESULT, PAGE)[len(sys.argv) - 1 :]]
    target.write_text(page(json.loads(source.read_text())))
    print(f"written to {target}")


def _width(found: dict[str, Any]) -> str:
    rows = []
    for way, one in found["ratios"].items():
        ratio, target = one["ratio"], one["target"]
        interval = f"{ratio['value']:.0f} [{ratio['low']:.0f}, {ratio['high']:.0f}]"
        goal = f"at least {target:g}: {'yes' if one['reached'] else 'NO'}" if target else ""
        rows.append(f"| {way} | {interval} | {goal} |")
    widths = {name: width for name, width in found["mean_width"].items() if name != "probe"}
    return _WIDTH.format(
        command=CARTPOLE.command,
        lengths=len(found["widths"]["probe"]["actor"]),
        needed=found["replicates_needed"],
        rows="\n".join(rows),
        probe=found["mean_width"]["probe"],
        chains=CHAINS,
        brute=", ".join(f"{width:.3f} with {count} batches" for count, width in widths.items()),
        **found["law"],
    )


def _norms(found: dict[str, Any]) -> str:
    headings = (*HEADINGS[:3], "samples/s", *HEADINGS[4:])
    lines = _table(headings, [cells(line) for line in found["lines"]])
    return "\n".join([_NORMS.format(batch=BATCH), lines, "", _costs(found["costs"])])


def _fragments(found: list[dict[str, Any]]) -> str:
    words = (
        "Vectors and squared norms of all fragments at every T, of actor and critic; and with "
        "them all\nthe rest that a probe takes from a slab of chains: norms and pairs of single "
        "steps, the reference,\nand products at ten lags. The plain gradient is that of actor "
        "and critic over the same steps."
    )
    return f"## Fragment sums\n\n{words}\n\n{_costs(found)}"


def _costs(found: list[dict[str, Any]]) -> str:
    headings = ("network", "", "cost in plain gradients [95 %]", "target")
    return _table(headings, [cost_cells(one) for one in found]) + "\n"


def _command(found: dict[str, Any]) -> str:
    taken = ", ".join(f"{seconds:.1f}" for seconds in found["warm"])
    return (
        f"## The whole command\n\n`nbyt probe STAGE {OPTIONS}` on CartPole-v1, start of Python "
        f"included: {found['cold']:.1f} s with an\nempty program cache, then {taken} s (median "
        f"{found['median']:.1f} s).\n"
    )


def _memory(found: list[dict[str, Any]]) -> str:
    words = (
        "What `nbyt probe STAGE ... --dry-run` says, and the peak resident memory of the same "
        f"command. Aims:\nwithin {WITHIN:.0%} of the prediction, and a pool of 4M steps of a "
        f"64x64 network below {TARGET_GB:g} GB."
    )
    rows = [
        (
            f"{one['env']}, {one['network']}",
            f"`{one['options']}`",
            f"{one['samples'] / 1e6:.2f}M",
            f"{one['predicted_gb']:.2f}",
            f"{one['peak_gb']:.2f}",
            f"{one['peak_over_predicted']:.2f} {'yes' if one['within'] else 'NO'}",
        )
        for one in found
    ]
    headings = ("stage", "options", "steps", "predicted GB", "peak GB", "peak / predicted")
    return f"## Memory\n\n{words}\n\n{_table(headings, rows)}\n"


def _table(headings: tuple[str, ...], rows: list[tuple[str, ...]]) -> str:
    every = [headings, ("---",) * len(headings), *rows]
    return "\n".join(f"| {' | '.join(row)} |" for row in every)


if __name__ == "__main__":
    main()
