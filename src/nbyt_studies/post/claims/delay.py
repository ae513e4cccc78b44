"""Claims on rare rewards and slippery ground, on nearby starts, and on trajectories."""

from functools import partial
from typing import Any

from nbyt.report import figures
from nbyt.results.study import Figures, NumberSeries
from nbyt.results.values import Data
from nbyt_studies.charts import common_lines
from nbyt_studies.experiment import env_name
from nbyt_studies.numbers import exact_number, over_trainings, typical_over_trainings
from nbyt_studies.study import Evidence, Results
from nbyt_studies.verdict import Check, Number

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


def _separations(results: Results) -> dict[tuple[str, str], list[Data]]:
    """Return the trainings of every env and stage."""
    found: dict[tuple[str, str], list[Data]] = {}
    for row in results["dynamics"]["separation"]:
        found.setdefault((env_name(row["env"]), row["stage"]), []).append(row)
    return found


def _apart(results: Results) -> list[Check]:
    words = "growth of the distance within 64 steps, median over starts"
    return [
        Check({"env": env, "stage": stage}, words, _grown(rows, -1), low=_VASTLY)
        for (env, stage), rows in _separations(results).items()
    ]


def _grown(rows: list[Data], place: int) -> Number:
    grown = [row["growth"][place] for row in rows]
    return typical_over_trainings(grown, [1.0] * len(grown))


def _apart_figures(results: Results) -> Figures:
    separations = _separations(results)
    steps = next(iter(separations.values()))[0]["steps"]
    axes = ("steps", "distance over that after one step, median")
    ticks, marks = [(step, str(step)) for step in steps], [(float(_VASTLY), "ten times")]
    more = {"log_x": True, "log_y": True, "ticks": ticks, "marks": marks}
    drawn = []
    for word in ("early", "late"):
        growths = {
            env: [_grown(rows, place) for place in range(len(steps))]
            for (env, stage), rows in separations.items()
            if stage == word
        }
        drawn.append(common_lines(f"Nearby starts, {word} stage", axes, steps, growths, **more))
    return [figures.row(*drawn)]


def _ratios(results: Results, what: str, first: str, second: str, name: str) -> list[Data]:
    """Return the typical ratio of a number, each pair with the same batch for its critic.

    Where both critics know nothing, the policy makes the number what it is: a uniform one goes the
    same ways on slippery and on firm ground, which is no comparison and is left out.
    """
    keys = [key for key in ("ground", "rewards", "policy", "steps") if key != what]
    found: dict[tuple[Any, ...], dict[str, list[float]]] = {}
    for row in results["delay"]["rows"]:
        sides = found.setdefault(tuple(row[key] for key in keys), {first: [], second: []})
        sides[row[what]].append(row[name])
    return [
        {
            "case": {("T" if key == "steps" else key): str(value) for key, value in place},
            "number": typical_over_trainings(sides[first], sides[second]),
        }
        for place, sides in ((tuple(zip(keys, at, strict=True)), own) for at, own in found.items())
        if not (what == "ground" and dict(place)["policy"] == "uniform")
    ]


def _bias(what: str, first: str, second: str, results: Results) -> list[Check]:
    words = f"|bias| / |G*|, {first} over {second}"
    return [
        Check(one["case"], words, one["number"], low=1.0)
        for one in _ratios(results, what, first, second, "bias")
    ]


def _credit(results: Results) -> list[Check]:
    kinds = {"share of the variance": "credit_share", "relative to |G*|²": "credit"}
    return [
        Check({"credit noise": words, **one["case"]}, _CREDIT, one["number"], low=1.0)
        for words, name in kinds.items()
        for one in _ratios(results, *_SPARSE, name)
    ]


_CREDIT = "credit noise, sparse over shaped"


def _figures(results: Results, name: str, title: str, *, log: bool = False) -> Figures:
    rows = results["delay"]["rows"]
    charts = [
        figures.lines(
            f"FrozenLake 8x8, {policy} policy, critics of 2,048 steps",
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
    lines = []
    for lake in sorted({(row["ground"], row["rewards"]) for row in rows}):
        by_steps: dict[int, list[float]] = {}
        for row in rows:
            if (row["ground"], row["rewards"]) == lake:
                by_steps.setdefault(row["steps"], []).append(row[name])
        numbers = [over_trainings(values) for values in by_steps.values()]
        lines.append(figures.series(", ".join(lake), list(by_steps), numbers))
    return lines


_SPARSE = ("rewards", "sparse", "shaped")
_SLIPPERY = ("ground", "slippery", "firm")
_BIAS = partial(_figures, name="bias", title="|E G - G*| / |G*|")
_NOISE = partial(_figures, name="credit", title="credit noise / |G*|²", log=True)

EVIDENCE = {
    "trajectory-probability": Evidence(_probability_checks, _probability_figures),
    "sensitive-dynamics": Evidence(_apart, _apart_figures),
    "delay-bias": Evidence(partial(_bias, *_SPARSE), _BIAS),
    "slip-bias": Evidence(partial(_bias, *_SLIPPERY)),
    "delay-credit": Evidence(_credit, _NOISE),
}
