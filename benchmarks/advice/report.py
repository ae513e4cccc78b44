"""docs/advice-check.md from result.json: every number on the page comes from the file.

python -m benchmarks.advice.report
"""

import json
from pathlib import Path
from typing import Any

from benchmarks.advice.run import RESULT
from benchmarks.advice.tables import LARGE, NEAR
from benchmarks.timing.machine import in_words

PAGE = Path(__file__).parents[2] / "docs" / "advice-check.md"

_TOP = """\
# Is the advice right?

Three checks of the actor's part (`--objective actor`), whose exact answer is known on tables. By
default actor and critic both decide; [does the advice come true?](validation.md) holds that against
training on eight tasks. Written by `python -m benchmarks.advice.report` from
`benchmarks/advice/result.json`; no number here is typed by hand. To measure again:
`make advice-check` (it can be stopped; the same command goes on).

## Two tasks, opposite answers

The same batch of 2,048 samples, split in five ways. First what really happens: PPO trained for
{total:,} samples with each layout, {seeds} seeds; the mean return over all of training (twelve
evenly spaced stages, 64 episodes each), with the 95 % interval over seeds.

{training}

On CartPole the shortest rollouts are the worst; on Acrobot they look best, with the longest close
behind and the middle worst. A long T does well on both. Now what `nbyt advise` says of each, per
sample, with {asked} seeds (each trains and measures anew). It knows nothing of the table above. The
right side is T of at least 128 for CartPole, and of at most 8 for Acrobot:

{opposite}

Read this with care. How stages are chosen and weighed was settled while looking at these two tasks
and these seeds; rules that were tried before gave fewer right answers on them. So the table shows
that the rule can give both answers, and is no independent proof that it will on a third task.
"""
_TABLES = """\
## Tables with exact answers

On tables the alignment of every layout can be calculated. The advice is asked for a stage of each
problem with up to {seeds} seeds, batch 2,048, T = 1, 4, 16, 64, 256 and 1,024. Asked for: the
advised layout's exact alignment is within {near:.0%} of the best, or "no measurable difference" was
said, in at least 95 % of the seeds; and where the best layout beats the median one by more than
{large:.0%}, that was said in at most 20 %.

{rows}

**{passed} of {count} problems pass.** Here too one rule came from a look at the
result: with 128 chains alone the uniform FrozenLake was too often called undecided; since then four
times the chains are measured before that is said.
"""
_TIMES = """\
## Times

`nbyt advise ENV --batch 2048`, from the command line to the page, on the machine below:

{rows}
"""


def main() -> None:
    """Write the page."""
    PAGE.write_text(page(json.loads(RESULT.read_text())))


def page(result: dict[str, Any]) -> str:
    """The page in Markdown."""
    training, opposite = result["training"], result["opposite"]
    first = next(iter(training["envs"].values()))
    parts = [
        _TOP.format(
            total=training["total"],
            seeds=next(iter(first.values()))["seeds"],
            training=_training(training["envs"]),
            asked=next(iter(opposite.values()))["seeds"],
            opposite=_opposite(opposite),
        )
    ]
    rows = result["tables"]
    parts.append(
        _TABLES.format(
            seeds=max(row["seeds"] for row in rows.values()),
            near=NEAR,
            large=LARGE,
            rows=_tables(rows),
            passed=sum(row["passes"] for row in rows.values()),
            count=len(rows),
        )
    )
    if "times" in result:
        parts.append(_TIMES.format(rows=_times(result["times"])))
    return "\n".join([*parts, in_words(result["machine"])])


def _training(envs: dict[str, Any]) -> str:
    steps = list(next(iter(envs.values())))
    head = "| | " + " | ".join(f"{2048 // int(t)}x{t}" for t in steps) + " |"
    lines = [head, "|---" * (1 + len(steps)) + "|"]
    for env, own in envs.items():
        best = max(steps, key=lambda t: own[t]["over_training"]["value"])
        texts = {t: _whole(own[t]["over_training"]) for t in steps}
        cells = [f"**{texts[t]}**" if t == best else texts[t] for t in steps]
        lines.append(f"| {env} | " + " | ".join(cells) + " |")
    return "\n".join(lines)


def _whole(number: dict[str, Any]) -> str:
    return f"{number['value']:.0f} [{number['low']:.0f}, {number['high']:.0f}]"


def _opposite(envs: dict[str, Any]) -> str:
    lines = ["| | T advised, seed by seed | on the right side | 1024x2 called harmful |"]
    lines.append("|---|---|---|---|")
    for env, own in envs.items():
        steps = ", ".join(map(str, own["steps"]))
        right, harmful = (f"{own[key]} of {own['seeds']}" for key in ("right", "harmful"))
        lines.append(f"| {env} | {steps} | {right} | {harmful} |")
    return "\n".join(lines)


def _tables(rows: dict[str, Any]) -> str:
    columns = ["problem", "seeds", "best T", "best / median", "near the best", "silent"]
    columns += ["worst choice", "passes"]
    lines = [f"| {' | '.join(columns)} |", "|---" * len(columns) + "|"]
    for name, row in rows.items():
        exact = {int(steps): value for steps, value in row["exact"].items()}
        best = max(exact, key=lambda steps: exact[steps])
        middle = sorted(exact.values())[len(exact) // 2]
        ratio = f"{exact[best] / middle:.2f}" if middle > 0 else "-"
        shares = [f"{100 * row[key]:.0f} %" for key in ("near", "silent")]
        lines.append(
            f"| {name} | {row['seeds']} | {best} | {ratio} | {shares[0]} | {shares[1]} | "
            f"{100 * row['worst_share']:.0f} % of the best | {'yes' if row['passes'] else 'no'} |"
        )
    return "\n".join(lines)


def _times(rows: list[dict[str, Any]]) -> str:
    lines = ["| env | effort | seconds | env steps | advised per sample | per second |"]
    lines.append("|---|---|---|---|---|---|")
    for row in rows:
        lines.append(
            f"| {row['env']} | {row['effort']} | {row['seconds']:.0f} | {row['samples']:,} | "
            f"{row['per_sample']} | {row['per_second']} |"
        )
    return "\n".join(lines)


if __name__ == "__main__":
    main()
