"""docs/dqn.md from the JSON files beside this: every number on the page comes from them.

python -m benchmarks.dqn.report
"""

import json
from pathlib import Path
from typing import Any

from benchmarks.dqn import parity, solves
from benchmarks.dqn.contenders import MINIBATCH as SPEED_MINIBATCH
from benchmarks.dqn.run import RESULT
from benchmarks.dqn.sampling import CAPACITIES, MINIBATCH
from benchmarks.dqn.tasks import TASKS, Task
from benchmarks.timing.lines import HEADINGS, cells, with_interval
from benchmarks.timing.machine import in_words
from nbyt.stats import Estimate

PAGE = Path(__file__).parents[2] / "docs" / "dqn.md"

_HEAD = """\
# DQN and its replay buffer

```sh
nbyt train CartPole-v1 --algo dqn --minibatch 32 --buffer 100_000 --total 200_000
```

trains DQN: a replay buffer, a target network, the Huber loss, epsilon-greedy exploration, double
Q-learning with `--double`. `nbyt train --algo dqn --help` lists all options. Runs resume, keep
stages and log to trackers as those of PPO do ([runs](runs.md)); a stage of DQN holds Q-values and
no critic, so `nbyt probe` refuses it and says so.

One update takes T steps of N environments (`--envs`, `--steps`), puts the N x T transitions into
the buffer, overwriting the oldest, and then makes `--gradient-steps` gradient steps, each on a
mini-batch drawn from the buffer. A time limit is no death: the last observation of the episode is
kept and its value counts.

`--sampling` says how a mini-batch is drawn:

| sampling | each mini-batch |
|---|---|
| uniform | every row from all rows, so that one may come twice; what most libraries do |
| distinct | no row twice |
| stratified | one row from each of m equal spans of age |
| sequential | rows that were collected one after the other, from a random one on |
| newest | the rows collected last: no replay |

Which rows are in the buffer follows from the number of updates, so draws are made on the host,
found by the update's number like all randomness here, and hold only rows that are there.
What the ways to draw do to learning is measured by [`nbyt reproduce replay`](replay.md).

The buffer is a page of our own code (`nbyt.collect.replay`). flashbax has an item buffer that could
hold these rows, but its buffers draw for themselves: here the place of every row is chosen by one
of the ways above, the same on the device and on the host, and writing and reading are all that is
left for a buffer to do.

On CartPole the Huber loss as usual (`--huber 1`) is fickle: a fall is one transition in hundreds
with an error near 100, and counting it linearly hides it. With frequent copies to the target
network Q-values then grow beyond what is possible, as [a claim on divergence](replay.md) shows.
`--huber 100` counts it squared.

Everything below is written by `python -m benchmarks.dqn.report` from the files in
`benchmarks/dqn`, and these come from `make dqn`.
"""


def main() -> None:
    """Write the page."""
    timed = json.loads(RESULT.read_text())
    parts = [
        _HEAD,
        _solves(solves.read()),
        _parity(parity.read()),
        _speed(timed),
        _sampling(timed),
        in_words(timed["machine"]),
    ]
    PAGE.write_text("\n".join(parts))


def _solves(found: dict[str, Any]) -> str:
    """What it solves, each task with its command."""
    lines = ["## What it solves\n"]
    for task in TASKS:
        runs = list(found[task.options].values())
        finals = [run["final_return"] for run in runs]
        good = sum(one["value"] >= task.goal for one in finals)
        each = ", ".join(f"{one['value']:.1f}" for one in finals)
        episodes = runs[0]["episodes"]
        word = "reached" if good >= task.needed else "NOT reached"
        lines.append(
            f"{task.env}, mean return of {episodes} whole episodes of the last policy, always with "
            f"the best action: {each}. Asked: {task.goal:g} with {task.needed} of {task.seeds} "
            f"seeds; {word}, with {good}.\n\n```sh\n{_command(task)}\n```\n"
        )
    return "\n".join(lines)


def _command(task: Task) -> str:
    words = f"nbyt train {task.env} --algo dqn {task.options}".split(" --")
    lines = [words[0]]
    for word in words[1:]:
        if len(lines[-1]) + len(word) > 85:
            lines[-1] += " \\"
            lines.append("   ")
        lines[-1] += f" --{word}"
    return "\n".join(lines)


def _parity(found: dict[str, Any]) -> str:
    """The learning curve beside SB3's."""
    rows = [
        f"| {one.metric} | {one.nbyt} | {one.sb3} | {_percent(one.difference)} | "
        f"{'agrees' if one.agrees else 'does not agree'} |"
        for one in parity.standing(found)
    ]
    seeds = len(set(found["nbyt"]) & set(found["sb3"]))
    return f"""\
## Beside Stable-Baselines3

CartPole-v1 through Gymnasium, {parity.TOTAL:,} steps, the same hyper-parameters for both (one env,
a mini-batch of {parity.MINIBATCH} every 4 steps, no double Q-learning, `--initial uniform`),
{seeds} seeds each.
Interquartile means over seeds of the mean return of training episodes; brackets are 95 % intervals
(bootstrap over seeds). The difference is nbyt less SB3, in shares of the range from random actions
to the best point of SB3's curve; it agrees where the whole interval lies within 10 %. There are
{parity.FIRST} seeds at least, more where the whole curve did not agree yet, {parity.MOST} at most.

| part of the curve | nbyt | SB3 | difference | verdict |
|---|---|---|---|---|
{chr(10).join(rows)}
"""


def _percent(difference: Estimate) -> str:
    value, low, high = (100 * x for x in (difference.value, difference.low, difference.high))
    return f"{value:+.1f} % [{low:+.1f}, {high:+.1f}]"


def _speed(timed: dict[str, Any]) -> str:
    rows = ["| " + " | ".join(cells(line)[1:]) + " |" for line in timed["speed"]]
    return f"""\
## Speed

Environment steps a second on CartPole, one env, a mini-batch of {SPEED_MINIBATCH} every 4 steps,
in {timed["rounds"]} rounds that take turns; the ratio is taken within a round, and the median over
rounds has its 95 % interval. *nbyt* is the device path (gymnax), *nbyt host* steps Gymnasium's env.

| {" | ".join(HEADINGS[1:])} |
|---|---|---|---|
{chr(10).join(rows)}
"""


def _sampling(timed: dict[str, Any]) -> str:
    """What a draw costs, by the size of the buffer."""
    lines = timed["sampling"]
    names = list(dict.fromkeys((line["buffer"], line["sampling"]) for line in lines))
    rows = []
    for place, way in names:
        own = [line for line in lines if (line["buffer"], line["sampling"]) == (place, way)]
        first = f"{own[0]['microseconds']:.0f}"
        rows.append(
            f"| {place}, {way} | {first} | "
            + " | ".join(with_interval(line["ratio"]) for line in own[1:])
            + " |"
        )
    sizes = " | ".join(f"{capacity:,}" for capacity in CAPACITIES[1:])
    return f"""\
## What a mini-batch costs

Drawing and reading {MINIBATCH} transitions of CartPole from a buffer that has been written over:
microseconds from a buffer of {CAPACITIES[0]:,}, and times that from larger ones. A cost that
grew with the buffer would show as 10, 100 and 1,000; what is left is memory that no longer fits
into the processor's caches.

| buffer, sampling | {CAPACITIES[0]:,} [us] | {sizes} |
|---|---|---|---|---|
{chr(10).join(rows)}
"""


if __name__ == "__main__":
    main()
