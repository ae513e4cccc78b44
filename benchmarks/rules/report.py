"""docs/rules.md from result.json: how often each rule is right.

python -m benchmarks.rules.report
"""

import json
from pathlib import Path
from typing import Any

from scipy import stats

from benchmarks.rules.run import RESULT
from benchmarks.timing.machine import in_words

PAGE = Path(__file__).parents[2] / "docs" / "rules.md"

_WORDS = """\
# How often the rules are right

`GradientProbe` says at the end of a training [what to change](integrations.md#what-to-change). Here
small trainings of Stable-Baselines3 have one planted fault each, or none. Recall is the share of
the trainings with a fault in which its rule speaks; precision is the share of a rule's words, over
all trainings, that are said of its own fault. Intervals are Clopper and Pearson's, 95 %. The limits
of the rules were chosen on trainings with other seeds.

Written from `benchmarks/rules/result.json`; to measure again, which goes on where it was stopped:

    make bench-rules

## By rule

| rule | recall | precision |
|---|---|---|
{rules}

## By training

| training | trainings | what spoke |
|---|---|---|
{trainings}

{healthy} healthy trainings: {silent} silent. A planted fault may bring another with it: what else
speaks there counts against precision.
"""


def page(found: dict[str, Any]) -> str:
    """The whole page."""
    rows = found["trainings"]
    faults = list(dict.fromkeys(row["fault"] for row in rows if row["fault"]))
    healthy = [row for row in rows if not row["fault"]]
    words = _WORDS.format(
        rules="\n".join(_rule(rule, rows) for rule in faults),
        trainings="\n".join(_case(name, rows) for name in dict.fromkeys(r["case"] for r in rows)),
        healthy=len(healthy),
        silent=sum(not row["fired"] for row in healthy),
    )
    return f"{words}\n{in_words(found['machine'])}"


def _rule(rule: str, rows: list[dict[str, Any]]) -> str:
    planted = [row for row in rows if row["fault"] == rule]
    spoke = [row for row in rows if rule in row["fired"]]
    right = sum(row["fault"] == rule for row in spoke)
    return f"| `{rule}` | {_share(right, len(planted))} | {_share(right, len(spoke))} |"


def _case(name: str, rows: list[dict[str, Any]]) -> str:
    own = [row for row in rows if row["case"] == name]
    rules = sorted({rule for row in own for rule in row["fired"]})
    said = [f"`{rule}` {sum(rule in row['fired'] for row in own)}" for rule in rules]
    return f"| {name} | {len(own)} | {', '.join(said) or 'nothing'} |"


def _share(count: int, whole: int) -> str:
    if not whole:
        return "never spoke"
    ends = stats.binomtest(count, whole).proportion_ci(0.95, "exact")
    return f"{count} of {whole} [{ends.low:.2f}, {ends.high:.2f}]"


def main() -> None:
    """Write the page."""
    PAGE.write_text(page(json.loads(RESULT.read_text())))
    print(f"written to {PAGE}")


if __name__ == "__main__":
    main()
