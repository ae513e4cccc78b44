"""Claims on delayed rewards and slippery ground, on starts, and on trajectory probabilities."""

from collections.abc import Callable
from typing import Any

from nbyt.report import figures
from nbyt.results.values import Data
from nbyt_studies.numbers import exact_number
from nbyt_studies.study import Claim, Results, always
from nbyt_studies.verdict import Check

_TOPIC = "The smaller statements"

_ROUNDING = 1e-9
_BINS = 24
_TABLES = {"sticky": "sticky context", "garnet": "random table", "frozenlake": "FrozenLake 8x8"}


def _probability_checks(results: Results) -> list[Check]:
    words = "sum of P(tau | pi) over all trajectories"
    return [
        Check(
            {"env": _TABLES[row["env"]], "steps": str(row["steps"])},
            words,
            exact_number(row["sum"]),
            1 - _ROUNDING,
            1 + _ROUNDING,
        )
        for row in results["probability"]["sums"]
    ]


def _probability_figures(results: Results) -> list[Data]:
    data = results["probability"]
    rows = [
        [_TABLES[row["env"]], str(row["steps"]), f"{row['count']:,}", f"{row['sum'] - 1:.1e}"]
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


_VASTLY = 10
_COUNTS = 0.01


def _dynamics_case(row: Data) -> dict[str, str]:
    name = row["env"].partition(":")[2]
    return {"env": name.replace("FrozenLake8x8-v1", "FrozenLake 8x8"), "stage": row["stage"]}


def _apart(results: Results) -> list[Check]:
    return [
        Check(
            _dynamics_case(row),
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
                figures.series(_dynamics_case(row)["env"], row["steps"], row["growth"])
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
            *_dynamics_case(row).values(),
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
    words = "share of Var(G_env) that the first state explains"
    return [
        Check({**_dynamics_case(row), "T": str(row["steps"])}, words, row["share"], low=_COUNTS)
        for row in results["dynamics"]["shares"]
    ]


def _share_figures(results: Results) -> list[Data]:
    head = ["env", "stage", "T", "share of the start"]
    rows = [
        [*_dynamics_case(row).values(), str(row["steps"]), row["share"]]
        for row in results["dynamics"]["shares"]
    ]
    return [figures.table("What the first state explains of the gradient's variance", head, rows)]


_MEASURED = (
    "Calculated, not sampled: FrozenLake 8x8 without a time limit, its ground slippery or firm, "
    "its reward of 1 given at the goal (sparse) or in parts for each step nearer to it (shaped); "
    "a uniform policy and a softmax of the best action values, critics V = 0 and half the true "
    "values, gamma .99, lambda .95, actor's gradient of a rollout from the stationary law."
)
# Ratios that differ from 1 by rounding alone count as 1, which is not more.
_MORE = 1 + 1e-9


def _pairs(results: Results, what: str, first: str, second: str) -> list[tuple[Data, Data]]:
    rows = results["delay"]["rows"]
    keys = [k for k in ("ground", "rewards", "policy", "critic", "steps") if k != what]
    place: Callable[[Data], tuple[Any, ...]] = lambda row: tuple(row[k] for k in keys)  # noqa: E731
    there = {place(row): row for row in rows if row[what] == second}
    return [(row, there[place(row)]) for row in rows if row[what] == first]


def _case(row: Data, what: str) -> dict[str, str]:
    names = [name for name in ("ground", "rewards", "policy", "critic") if name != what]
    return {**{name: row[name] for name in names}, "T": str(row["steps"])}


def _bias(what: str, first: str, second: str) -> Callable[[Results], list[Check]]:
    def checks(results: Results) -> list[Check]:
        return [
            Check(
                _case(one, what),
                f"|bias| / |G*|, {first} over {second}",
                exact_number(one["bias"] / other["bias"]),
                low=_MORE,
            )
            for one, other in _pairs(results, what, first, second)
        ]

    return checks


def _credit(what: str, first: str, second: str) -> Callable[[Results], list[Check]]:
    kinds = {"share of the variance": "credit_share", "relative to |G*|²": "credit"}

    def checks(results: Results) -> list[Check]:
        return [
            Check(
                {"credit noise": words, **_case(one, what)},
                f"credit noise, {first} over {second}",
                exact_number(one[name] / other[name]),
                low=_MORE,
            )
            for words, name in kinds.items()
            for one, other in _pairs(results, what, first, second)
        ]

    return checks


def _figures(name: str, title: str, log: bool = False) -> Callable[[Results], list[Data]]:
    def drawn(results: Results) -> list[Data]:
        rows = [row for row in results["delay"]["rows"] if row["critic"] == "V = 0"]
        return [
            figures.row(
                *(
                    figures.lines(
                        f"FrozenLake 8x8, {policy} policy, V = 0",
                        "steps T of the rollout",
                        title,
                        _lakes([row for row in rows if row["policy"] == policy], name),
                        log_x=True,
                        log_y=log,
                        ticks=[(t, str(t)) for t in sorted({row["steps"] for row in rows})],
                    )
                    for policy in sorted({row["policy"] for row in rows})
                )
            )
        ]

    return drawn


def _lakes(rows: list[Data], name: str) -> list[Data]:
    lakes = sorted({(row["ground"], row["rewards"]) for row in rows})
    found = []
    for lake in lakes:
        own = [row for row in rows if (row["ground"], row["rewards"]) == lake]
        steps, numbers = [row["steps"] for row in own], [exact_number(row[name]) for row in own]
        found.append(figures.series(", ".join(lake), steps, numbers))
    return found


def _claim(
    id: str,
    says: str,
    asks: str,
    checks: Callable[[Results], list[Check]],
    drawn: Callable[[Results], list[Data]],
) -> Claim:
    return Claim(id, _TOPIC, says, _MEASURED, asks, ("delay",), checks, drawn, _NOTES)


_NOTES = always(
    "A critic that is half right has half the bias of V = 0: its checks repeat those of V = 0, so "
    "half of the checks are independent.",
    "This is one way of shaping: a reward for every step nearer to the goal, also on the way into "
    "a hole. Others may say otherwise.",
    "That credit noise is looked at in two ways was decided when a first table showed that they "
    "disagree.",
)
_BIAS, _SHARE = "|E G - G*| / |G*|", "credit noise, share of the variance"

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
        checks=_probability_checks,
        figures=_probability_figures,
    ),
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
    _claim(
        "delay-bias",
        "Where rewards are rare the mean gradient is further from the true one.",
        "|bias| / |G*| with sparse rewards over that with shaped ones is above 1.",
        _bias("rewards", "sparse", "shaped"),
        _figures("bias", _BIAS),
    ),
    _claim(
        "slip-bias",
        "Where transitions are highly random the mean gradient is further from the true one.",
        "|bias| / |G*| on slippery ground over that on firm ground is above 1.",
        _bias("ground", "slippery", "firm"),
        _figures("bias", _BIAS),
    ),
    _claim(
        "delay-credit",
        "Rare or late rewards add to the noise of crediting earlier actions.",
        "Credit noise with sparse rewards over that with shaped ones is above 1; both as a share "
        "of the variance and relative to the squared true gradient.",
        _credit("rewards", "sparse", "shaped"),
        _figures("credit_share", _SHARE),
    ),
    _claim(
        "slip-credit",
        "Random transitions add to the noise of crediting earlier actions.",
        "Credit noise on slippery ground over that on firm ground is above 1; both as a share of "
        "the variance and relative to the squared true gradient.",
        _credit("ground", "slippery", "firm"),
        _figures("credit", "credit noise / |G*|²", log=True),
    ),
)
