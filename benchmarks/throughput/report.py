"""docs/speed.md from result.json, the callback's and the seeds': every number comes from the files.

python -m benchmarks.throughput.report [RESULT.json] [PAGE.md]
"""

import json
import sys
from pathlib import Path
from typing import Any

from benchmarks.callback.run import RESULT as CALLBACK
from benchmarks.callback.section import section
from benchmarks.sweep.run import RESULT as SEEDS
from benchmarks.sweep.speed import section as seeds_section
from benchmarks.throughput import runners
from benchmarks.throughput.run import RESULT
from benchmarks.throughput.start import COMMAND
from benchmarks.timing.lines import HEADINGS, cells
from benchmarks.timing.machine import in_words
from benchmarks.vectors.run import RESULT as VECTORS
from benchmarks.vectors.section import section as vectors_section

PAGE = Path(__file__).parents[2] / "docs" / "speed.md"

_INTRODUCTION = """\
# Speed

Ratios of nbyt's speed to its peers', measured in one run: in each of {rounds} rounds every
contender trains for about {round_seconds:g} s, in rotating order, and the ratio is taken within the
round. The table gives the median ratio, the 95 % interval of that median from order statistics over
the rounds, and the median steps per second of both. A target is reached when the median is at least
as large. Absolute speeds are this machine's; ratios travel better.

Written by `python -m benchmarks.throughput.report` from `benchmarks/throughput/result.json`; no
number here is typed by hand. To measure again, on a machine that does nothing else:

    make bench-throughput
"""

_EQUAL = """\
## What is equal, and what is not

Equal for all: CartPole-v1, the layout, mini-batches of {minibatch}, {epochs} epochs, two separate
networks of 64x64 tanh units, Adam at {rate:g}, clip {clip}, entropy bonus {entropy}, gamma {gamma},
lambda {lam}, advantages normalised in each mini-batch. Compilation and set-up are not timed. Every
contender has a process of its own with its library's usual settings, and sleeps while others run.

Not equal:

- **Gradient clipping.** nbyt clips the norm of actor and critic apart, each at {norm}, or their
  joint norm ("joint clip"). Stable-Baselines3 clips the joint norm at {norm}, sbx each network's.
  rejax clips element by element, by default without a limit, so not at all.
- **A device for each core.** nbyt shows the CPU to JAX as one device for each core and improves
  actor and critic side by side on two of them; with the joint clip it uses one, as its peers do.
- **Critic's loss.** rejax always clips it; so nbyt does too against rejax, and not against the
  others, which do not by default.
- **Ends of episodes.** rejax treats a time limit as a death; nbyt, Stable-Baselines3 and sbx
  bootstrap from the value of the last observation.
- **Shuffling.** rejax shuffles on the device; nbyt draws the permutation on the host.
- **Numbers.** nbyt reads a row of metrics from every update, as `nbyt train` does, and
  Stable-Baselines3 and sbx record theirs; rejax is run as one compiled loop that records nothing.
- **Envs on the host.** All step the same Gymnasium env in one process, without its passive checker
  and without a monitor.
- **Adam's epsilon** is smaller in rejax.
"""

_TITLES = {
    "device": "PPO on device envs",
    "host": "PPO on Gymnasium's envs",
    "raw": "Stepping envs alone",
}


def page(found: dict[str, Any]) -> str:
    """The whole page."""
    parts = [_INTRODUCTION.format(**found)]
    if found["quick"]:
        parts.append("**A quick trial, to see that everything runs: not a measurement.**\n")
    parts += [_section(title, found[part]) for part, title in _TITLES.items() if part in found]
    parts += [_start(found["start"])] if "start" in found else []
    parts += [_memory(found["memory"])] if "memory" in found else []
    parts += [section(json.loads(CALLBACK.read_text()))] if CALLBACK.exists() else []
    parts += [seeds_section(json.loads(SEEDS.read_text()))] if SEEDS.exists() else []
    parts += [vectors_section(json.loads(VECTORS.read_text()))] if VECTORS.exists() else []
    return "\n".join([*parts, _equal(), in_words(found["machine"])])


def main() -> None:
    """Write the page."""
    source, target = [*map(Path, sys.argv[1:]), *(RESULT, PAGE)[len(sys.argv) - 1 :]]
    target.write_text(page(json.loads(source.read_text())))
    print(f"written to {target}")


def _section(title: str, lines: list[dict[str, Any]]) -> str:
    rows = [HEADINGS, ("---",) * len(HEADINGS), *(cells(line) for line in lines)]
    table = "\n".join(f"| {' | '.join(row)} |" for row in rows)
    return f"## {title}\n\n{table}\n"


def _start(found: dict[str, Any]) -> str:
    rows = [
        f"| {kind} | {facts['median']:.1f} s ({min(facts['seconds']):.1f} to "
        f"{max(facts['seconds']):.1f}, {len(facts['seconds'])} starts) | {_goal(facts, 's')} |"
        for kind, facts in found.items()
    ]
    head = "| program cache | median to the first update | target |\n|---|---|---|"
    words = f"From `nbyt {COMMAND}` to its first update; cold is with an empty program cache."
    return "\n".join(["## Start\n", f"{words}\n", head, *rows, ""])


def _memory(found: dict[str, Any]) -> str:
    peak = f"peak resident memory {found['peak_gb']:.2f} GB, target {_goal(found, 'GB')}."
    return f"## Memory\n\n`{found['command']}`: {peak}\n"


def _goal(facts: dict[str, Any], unit: str) -> str:
    return f"< {facts['target']:g} {unit}: {'yes' if facts['reached'] else 'NO'}"


def _equal() -> str:
    return _EQUAL.format(
        minibatch=runners.MINIBATCH,
        epochs=runners.EPOCHS,
        rate=runners.LEARNING_RATE,
        clip=runners.CLIP,
        entropy=runners.ENTROPY,
        gamma=runners.GAMMA,
        lam=runners.LAMBDA,
        norm=runners.MAX_GRAD_NORM,
    )


if __name__ == "__main__":
    main()
