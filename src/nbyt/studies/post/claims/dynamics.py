"""Sensitive dynamics: nearby starts end far apart, and the start is part of the noise."""

from nbyt.report.study import figures
from nbyt.results.values import Data
from nbyt.studies.study import Claim, Results, always
from nbyt.studies.verdict import Check

_TOPIC = "The smaller statements"
_VASTLY = 10
_COUNTS = 0.01


def _case(row: Data) -> dict[str, str]:
    name = row["env"].partition(":")[2]
    return {"env": name.replace("FrozenLake8x8-v1", "FrozenLake 8x8"), "stage": row["stage"]}


def _apart(results: Results) -> list[Check]:
    return [
        Check(
            _case(row),
            f"growth of the distance within {row['steps'][-1]} steps",
            row["growth"][-1],
            low=_VASTLY,
        )
        for row in results["dynamics"]["separation"]
    ]


def _apart_figures(results: Results) -> list[Data]:
    rows = results["dynamics"]["separation"]
    drawn = [
        figures.lines(
            f"Nearby starts, {stage} stage",
            "steps",
            "distance over that after one step, median",
            [
                figures.series(_case(row)["env"], row["steps"], row["growth"])
                for row in rows
                if row["stage"] == stage
            ],
            log_x=True,
            log_y=True,
            ticks=[(step, str(step)) for step in rows[0]["steps"]],
            marks=[(float(_VASTLY), "ten times")],
        )
        for stage in ("early", "late")
    ]
    head = ["env", "stage", "pairs", "median", "mean", "unrelated starts, median"]
    table = [
        [
            *_case(row).values(),
            str(row["pairs"]),
            row["growth"][-1],
            row["mean"],
            row["unrelated"],
        ]
        for row in rows
    ]
    title = f"Growth within {rows[0]['steps'][-1]} steps"
    return [figures.row(*drawn), figures.table(title, head, table)]


def _shares(results: Results) -> list[Check]:
    return [
        Check(
            {**_case(row), "T": str(row["steps"])},
            "share of Var(G_env) that the first state explains",
            row["share"],
            low=_COUNTS,
        )
        for row in results["dynamics"]["shares"]
    ]


def _share_figures(results: Results) -> list[Data]:
    head = ["env", "stage", "T", "share of the start"]
    rows = [
        [*_case(row).values(), str(row["steps"]), row["share"]]
        for row in results["dynamics"]["shares"]
    ]
    return [figures.table("What the first state explains of the gradient's variance", head, rows)]


CLAIMS = (
    Claim(
        id="sensitive-dynamics",
        topic=_TOPIC,
        says="A small change of the first state leads to a vastly different last one.",
        measured="CartPole-v1, Pendulum-v1 and (not in quick) Acrobot-v1, a stage after the first "
        "update and one from the end of the run: 512 (quick: 256) starts at random "
        "phases of an episode, each beside one whose state is changed by a thousandth of its "
        "spread, both with the same random streams for 64 steps or until one of the two "
        "ends. Distance of standardised observations relative to that after one step.",
        asks="The median over starts of the growth of the distance is at least 10; "
        "interval over starts.",
        needs=("dynamics",),
        checks=_apart,
        figures=_apart_figures,
        notes=always(
            "The median took the place of a geometric mean after a first run, in which pairs that "
            "meet made the mean depend on how their distance of 0 is counted.",
            "One training of each env: the intervals are about starts, not about trainings.",
        ),
    ),
    Claim(
        id="start-share",
        topic=_TOPIC,
        says="Where a rollout starts is part of what makes its gradient vary.",
        measured="Actor's gradient of one env's rollout of T steps, standardised advantages. "
        "FrozenLake 8x8: calculated, from the split of the variance by what was drawn. Others: "
        "covariance of the 8 rollouts from each of 512 (quick: 256) starts, with random streams "
        "of their own, over the variance.",
        asks="The first state explains at least 1 % of the variance; interval over starts.",
        needs=("dynamics",),
        checks=_shares,
        figures=_share_figures,
        notes=always(
            "Rollouts of each start were raised from 2 to 8 after a first run in which nearly all "
            "checks were open; the bound was not changed."
        ),
    ),
)
