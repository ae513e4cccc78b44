"""docs/replicate.md from result.json: every number on the page comes from the file.

python -m benchmarks.replicate.report
"""

import json
import math
from pathlib import Path
from typing import Any

from nbyt_studies.numbers import over_trainings

RESULT = Path(__file__).with_name("result.json")
PAGE = Path(__file__).parents[2] / "docs" / "replicate.md"
_NAMES = {
    "critic_covariance_share": "critic: covariance term over the variance, T = 512",
    "actor_covariance_share": "actor, normalised: the same",
    "variance_ratio": "actor, normalised: Var at T = 8 over Var at T = 512, same N x T",
    "cosine_8": "actor: cosine of mean and true gradient, T = 8",
    "cosine_512": "actor: the same, T = 512",
    "minibatch_over_formula": "variance that mini-batches of 64 add, over (1 - m/n) S²/m",
    "corr2_8": "corr² of estimated and true advantages, T = 8",
    "corr2_64": "the same, T = 64",
    "corr2_512": "the same, T = 512",
}
_HEAD = """\
# The post's central measurements, a second time

The [study of the post](post.md) rests on one code path. Here its six central measurements are
repeated with code that shares nothing with it: CartPole, PPO and the gradients of single steps in
torch (`benchmarks/replicate/cartpole.py`), and brute force over gradients that are written out
(`benchmarks/replicate/run.py`). Networks are smaller (32x32) and the lengths fewer, so numbers
should lie near those of the study, not on them.

Intervals are over {trainings} trainings. To measure again: `make replicate`. Written by
`python -m benchmarks.replicate.report` from `result.json`; no number is typed by hand.

| number | {stages} |
|---|{lines}
"""


def page(data: dict[str, Any]) -> str:
    """Return the page."""
    rows = data["rows"]
    stages = list(dict.fromkeys(row["stage"] for row in rows))
    head = _HEAD.format(
        trainings=len({row["seed"] for row in rows}),
        stages=" | ".join(
            f"{stage} (episodes of {_mean(rows, stage, 'episode')})" for stage in stages
        ),
        lines="---|" * len(stages),
    )
    lines = [
        f"| {words} | " + " | ".join(_mean(rows, stage, name) for stage in stages) + " |"
        for name, words in _NAMES.items()
    ]
    return head + "\n".join(lines) + "\n"


def _mean(rows: list[dict[str, Any]], stage: str, name: str) -> str:
    values = [row[name] for row in rows if row["stage"] == stage]
    number = over_trainings(value for value in values if math.isfinite(value))
    if number["value"] is None:
        return "undetermined"
    return f"{number['value']:.2g} [{number['low']:.2g}, {number['high']:.2g}]"


if __name__ == "__main__":
    PAGE.write_text(page(json.loads(RESULT.read_text())))
