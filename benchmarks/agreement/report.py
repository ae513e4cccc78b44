"""docs/agreement.md from result.json: every number on the page comes from the file.

python -m benchmarks.agreement.report
"""

import json
from pathlib import Path
from typing import Any

from benchmarks.agreement.run import RESULT

PAGE = Path(__file__).parents[2] / "docs" / "agreement.md"

_INTRODUCTION = """\
# Agreement with brute force

`nbyt probe` measures every layout from one pool of chains, without writing a gradient down. Brute
force does the obvious thing: fresh rollouts for each T, each one's gradient by `jax.grad`, and the
spread of those gradients. Both are run on the same frozen policies, and every number is compared:
z is the difference over its standard error. Asked for: every |z| below 4, at most 10 % above 2.

**{numbers} numbers: the largest |z| is {largest:.2f}, {share:.1f} % are above 2, and their root
mean square is {rms:.2f}. The two {verdict}.**

Written by `python -m benchmarks.agreement.report` from `benchmarks/agreement/result.json`; no
number here is typed by hand. To measure again: `make agreement`.

Policies: {tasks}. Probe: {chains} chains, batch {batch}, raw advantages. Brute force: {replicates}.
The chains of both start at random phases of their episodes.
"""

_COSINES = """\
## Where short rollouts point

CartPole after the same training with {count} seeds: the cosine between the actor's expected
gradient and the true one (stage's own settings, normalised advantages). With a critic that
explains next to nothing, short rollouts can point the wrong way; how far T must go before they do
not depends on the stage.
"""


def main() -> None:
    """Write the page."""
    PAGE.write_text(page(json.loads(RESULT.read_text())))


def page(result: dict[str, Any]) -> str:
    """The page in Markdown."""
    verdict = result["verdict"]
    introduction = _INTRODUCTION.format(
        numbers=verdict["numbers"],
        largest=verdict["largest"],
        share=100 * verdict["share_above_2"],
        rms=verdict["root_mean_square"],
        verdict="agree" if verdict["agrees"] else "do not agree",
        tasks=", ".join(f"`{command}`" for command in result["tasks"].values()),
        chains=result["chains"],
        batch=result["batch"],
        replicates=", ".join(f"{n:,} at T = {t}" for t, n in result["replicates"].items()),
    )
    cosines = _COSINES.format(count=len(result["cosines"]))
    return "\n".join([introduction, *_table(result["rows"]), "", cosines, *_signs(result), ""])


def _table(rows: list[dict[str, Any]]) -> list[str]:
    lines = [
        "| env | T | gradient | number | probe | brute force | z |",
        "|---|---|---|---|---|---|---|",
    ]
    for row in rows:
        sides = (
            f"{row[side]['value']:.3g} ± {row[side]['error']:.1g}" for side in ("probe", "brute")
        )
        place = f"| {row['env']} | {row['steps']} | {row['gradient']} | {_escaped(row['number'])} |"
        lines.append(f"{place} {' | '.join(sides)} | {row['z']:+.2f} |")
    return lines


def _signs(result: dict[str, Any]) -> list[str]:
    lengths = list(result["cosines"][0]["cosine"])
    heads = " | ".join(f"T = {length}" for length in lengths)
    lines = [f"| seed | explained variance | {heads} |", "|---|---|" + "---|" * len(lengths)]
    for one in result["cosines"]:
        cells = " | ".join(_number(one["cosine"][length]) for length in lengths)
        lines.append(f"| {one['seed']} | {_number(one['explained_variance'])} | {cells} |")
    return lines


def _number(number: dict[str, Any]) -> str:
    if number["value"] is None:
        return "undetermined"
    low, high = ("?" if number[x] is None else f"{number[x]:.2g}" for x in ("low", "high"))
    return f"{number['value']:.2g} [{low}, {high}]"


def _escaped(words: str) -> str:
    return words.replace("|", "\\|")


if __name__ == "__main__":
    main()
