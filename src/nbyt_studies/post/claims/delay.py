"""Claims on delayed rewards and slippery ground, on starts, and on trajectory probabilities."""

from functools import partial

from nbyt.report import figures
from nbyt.results.study import Figures, NumberSeries
from nbyt.results.values import Data
from nbyt_studies.charts import common_lines
from nbyt_studies.experiment import env_name
from nbyt_studies.numbers import exact_number
from nbyt_studies.study import Evidence, Results
from nbyt_studies.verdict import Check

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


def _probability_figures(results: Results) -> Figures:
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
    name = env_name(row["env"])
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


def _apart_figures(results: Results) -> Figures:
    rows = results["dynamics"]["separation"]
    steps, axes = rows[0]["steps"], ("steps", "distance over that after one step, median")
    ticks, marks = [(step, str(step)) for step in steps], [(float(_VASTLY), "ten times")]
    more = {"log_x": True, "log_y": True, "ticks": ticks, "marks": marks}
    drawn = []
    for stage in ("early", "late"):
        own = [row for row in rows if row["stage"] == stage]
        growths = {_dynamics_case(row)["env"]: row["growth"] for row in own}
        drawn.append(common_lines(f"Nearby starts, {stage} stage", axes, steps, growths, **more))
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


def _share_figures(results: Results) -> Figures:
    head = ["env", "stage", "T", "share of the start"]
    rows = [
        [*_dynamics_case(row).values(), str(row["steps"]), row["share"]]
        for row in results["dynamics"]["shares"]
    ]
    return [figures.table("What the first state explains of the gradient's variance", head, rows)]


# Ratios that differ from 1 by rounding alone count as 1, which is not more.
_MORE = 1 + 1e-9


def _pairs(results: Results, what: str, first: str, second: str) -> list[tuple[Data, Data]]:
    rows = results["delay"]["rows"]
    keys = [k for k in ("ground", "rewards", "policy", "critic", "steps") if k != what]
    there = {tuple(row[k] for k in keys): row for row in rows if row[what] == second}
    return [(row, there[tuple(row[k] for k in keys)]) for row in rows if row[what] == first]


def _case(row: Data, what: str) -> dict[str, str]:
    names = [name for name in ("ground", "rewards", "policy", "critic") if name != what]
    return {**{name: row[name] for name in names}, "T": str(row["steps"])}


def _bias(what: str, first: str, second: str, results: Results) -> list[Check]:
    return [
        Check(
            _case(one, what),
            f"|bias| / |G*|, {first} over {second}",
            exact_number(one["bias"] / other["bias"]),
            low=_MORE,
        )
        for one, other in _pairs(results, what, first, second)
    ]


def _credit(what: str, first: str, second: str, results: Results) -> list[Check]:
    kinds = {"share of the variance": "credit_share", "relative to |G*|²": "credit"}
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


def _figures(results: Results, name: str, title: str, *, log: bool = False) -> Figures:
    rows = [row for row in results["delay"]["rows"] if row["critic"] == "V = 0"]
    charts = [
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
    ]
    return [figures.row(*charts)]


def _lakes(rows: list[Data], name: str) -> list[NumberSeries]:
    lakes = sorted({(row["ground"], row["rewards"]) for row in rows})
    lines = []
    for lake in lakes:
        own = [row for row in rows if (row["ground"], row["rewards"]) == lake]
        steps, numbers = [row["steps"] for row in own], [exact_number(row[name]) for row in own]
        lines.append(figures.series(", ".join(lake), steps, numbers))
    return lines


_SPARSE = ("rewards", "sparse", "shaped")
_SLIPPERY = ("ground", "slippery", "firm")
_BIAS = partial(_figures, name="bias", title="|E G - G*| / |G*|")
_SHARE = partial(_figures, name="credit_share", title="credit noise, share of the variance")
_NOISE = partial(_figures, name="credit", title="credit noise / |G*|²", log=True)

EVIDENCE = {
    "trajectory-probability": Evidence(_probability_checks, _probability_figures),
    "sensitive-dynamics": Evidence(_apart, _apart_figures),
    "start-share": Evidence(_shares, _share_figures),
    "delay-bias": Evidence(partial(_bias, *_SPARSE), _BIAS),
    "slip-bias": Evidence(partial(_bias, *_SLIPPERY), _BIAS),
    "delay-credit": Evidence(partial(_credit, *_SPARSE), _SHARE),
    "slip-credit": Evidence(partial(_credit, *_SLIPPERY), _NOISE),
}
