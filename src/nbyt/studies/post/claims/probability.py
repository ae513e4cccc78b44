"""P(tau | pi) as a product of start, policy and transitions."""

from nbyt.report.study import figures
from nbyt.results.values import Data
from nbyt.studies.numbers import exact
from nbyt.studies.study import Claim, Results
from nbyt.studies.verdict import Check

_ROUNDING = 1e-9
_BINS = 24
_NAMES = {"sticky": "sticky context", "garnet": "random table", "frozenlake": "FrozenLake 8x8"}


def _checks(results: Results) -> list[Check]:
    return [
        Check(
            {"env": _NAMES[row["env"]], "steps": str(row["steps"])},
            "sum of P(tau | pi) over all trajectories",
            exact(row["sum"]),
            1 - _ROUNDING,
            1 + _ROUNDING,
        )
        for row in results["probability"]["sums"]
    ]


def _figures(results: Results) -> list[Data]:
    data = results["probability"]
    rows = [
        [_NAMES[row["env"]], str(row["steps"]), f"{row['count']:,}", f"{row['sum'] - 1:.1e}"]
        for row in data["sums"]
    ]
    seen = data["log10"]
    low, high = min(seen), max(seen)
    width = (high - low) / _BINS or 1.0
    counts = [0] * _BINS
    for value in seen:
        counts[min(_BINS - 1, int((value - low) / width))] += 1
    return [
        figures.row(
            figures.table(
                "All trajectories of a table", ["env", "steps", "trajectories", "sum - 1"], rows
            ),
            figures.histogram(
                f"FrozenLake 8x8, mid policy: what {len(seen):,} sampled trajectories had",
                f"log10 P(tau | pi), up to {data['steps']} steps",
                [low + place * width for place in range(_BINS + 1)],
                [{"name": "trajectories", "heights": [count / len(seen) for count in counts]}],
                y_title="share of trajectories",
            ),
        )
    ]


CLAIMS = (
    Claim(
        id="trajectory-probability",
        topic="The data move",
        says="A trajectory's probability is that of its start times those of its actions under "
        "the policy and of the env's answers.",
        measured="The product as a function on tables (nbyt.exact.trajectory_probability), added "
        "up over every trajectory of 1 to 4 steps of three tables, and over shorter ones that "
        "ended.",
        asks="Each sum is 1, to nine digits.",
        needs=("probability",),
        checks=_checks,
        figures=_figures,
    ),
)
