"""Claims that visited states change with the policy, and less so at the end of a run."""

from collections.abc import Callable
from functools import partial
from typing import Any

from nbyt.report import figures
from nbyt.results.values import Data
from nbyt.stats import Estimate
from nbyt_studies.numbers import mean_of, ratio_of_means, shortened, typical_ratio
from nbyt_studies.study import Claim, Results, always
from nbyt_studies.verdict import Check

TOPIC = "The data move"
NEEDS = ("visits-lake", "visits-cartpole", "visits-pendulum")
NAMES = {
    "tabular:FrozenLake8x8-v1": "FrozenLake 8x8",
    "gymnax:CartPole-v1": "CartPole-v1",
    "gymnax:Pendulum-v1": "Pendulum-v1",
}
MEASURED = (
    "PPO with a constant learning rate, batch 2,048 (16 x 128), 5 seeds (quick: 3): FrozenLake 8x8 "
    "with a table for 201 updates, CartPole and Pendulum for 61 (quick: 41). At some updates u the "
    "frozen policies after u and u + 1 are compared. "
)
LAWS = (
    "FrozenLake: total variation of the exact stationary laws of the state, resets included. "
    "Others: energy distance of the observations, each standardised, of 256 (quick: 128) chains "
    "of 200 steps at random phases, with the same random streams before and after; pairs of "
    "points are always from different chains, so equal laws give 0 in expectation. The floor is "
    "the same distance between two independent pools of one policy."
)
SPAN_NOTES = always(
    "What counts as early and as late was settled when distances from update to update had been "
    "seen; the bound, 1, was there before.",
    "A run of few updates is not followed to its end: late is later, not converged.",
)
SPANS = "Early: the first eighth of the run; late: its last third."


def span(data: Data, name: str, when: str) -> list[float]:
    """Return the mean of a column over the early or late updates, for each seed."""
    means = []
    for seed in data["seeds"]:
        values = [
            number["value"]
            for u, number in zip(seed["at"], seed[name], strict=True)
            if u in data[when]
        ]
        means.append(sum(values) / len(values))
    return means


def is_table(data: Data) -> bool:
    """Return whether its state distributions were calculated."""
    return data["env"].startswith("tabular:")


def distance_ratio(data: Data) -> Estimate:
    """Estimate late over early distance; only a sampled distance may come out below 0."""
    ratio = typical_ratio if is_table(data) else ratio_of_means
    return ratio(span(data, "distance", "late"), span(data, "distance", "early"))


def _shift_checks(results: Results) -> list[Check]:
    checks = []
    for name in NEEDS:
        data = results[name]
        above = [
            distance - floor
            for distance, floor in zip(
                span(data, "distance", "early"), span(data, "floor", "early"), strict=True
            )
        ]
        words = "total variation" if is_table(data) else "energy distance above the floor"
        number = mean_of(above).as_dict()
        # The smallest number above 0: no distance at all is no shift.
        checks.append(Check({"env": NAMES[data["env"]]}, f"early {words}", number, low=1e-12))
    return checks


def _settle_checks(results: Results) -> list[Check]:
    words = "distance per update, late over early"
    return [
        Check(
            {"env": NAMES[results[name]["env"]]},
            words,
            distance_ratio(results[name]).as_dict(),
            high=1,
        )
        for name in NEEDS
    ]


def curves(data: Data, title: str, some: list[Data]) -> Data:
    """Draw columns of the first seed along its updates."""
    return figures.lines(
        f"{NAMES[data['env']]}, {data['layout']}, seed 0", "update", title, some, log_x=True
    )


def column(data: Data, name: str, words: str) -> Data:
    """Return one column of the first seed."""
    first = data["seeds"][0]
    return figures.series(words, first["at"], first[name])


def returns(data: Data) -> Data:
    """Draw the return curve of the first seed."""
    seen = data["returns"]
    numbers = [{"value": value} for value in seen["value"]]
    return curves(data, "mean return of episodes", [figures.series("", seen["update"], numbers)])


def _distances(data: Data) -> Data:
    words = "total variation" if is_table(data) else "energy distance"
    some = [column(data, "distance", "from one update to the next")]
    if not is_table(data):
        some.append(column(data, "floor", "floor: the same policy twice"))
    return curves(data, words, some)


def _maps(data: Data) -> Data:
    first = data["seeds"][0]
    most = max(max(law) for law in first["maps"])
    frames = [
        [
            figures.heatmap(
                f"FrozenLake 8x8, 16 x 128, after update {u}: share of steps in each cell",
                [law[row * 8 : row * 8 + 8] for row in range(8)],
                "share of steps",
                low=0.0,
                high=most,
            )
        ]
        for u, law in zip(first["at"], first["maps"], strict=True)
    ]
    words = [str(u) for u in first["at"]]
    return figures.slides("visits-lake", "after update", words, frames)


def _figures(results: Results) -> list[Data]:
    rows = [figures.row(_distances(results[name]), returns(results[name])) for name in NEEDS]
    return [_maps(results["visits-lake"]), *rows]


def _ratios(results: Results) -> list[Data]:
    rows = [
        [
            NAMES[results[name]["env"]],
            *(
                ", ".join(
                    str(value) for value in shortened(span(results[name], "distance", when), 2)
                )
                for when in ("early", "late")
            ),
        ]
        for name in NEEDS
    ]
    return [figures.table("Distance per update, seed by seed", ["env", "early", "late"], rows)]


def _convergence_checks(name: str, words: str) -> Callable[[Results], list[Check]]:
    def checks(results: Results) -> list[Check]:
        return [
            Check(
                {"env": NAMES[data["env"]]},
                f"{words}, late over early",
                typical_ratio(span(data, name, "late"), span(data, name, "early")).as_dict(),
                high=1,
            )
            for data in (results[need] for need in NEEDS)
        ]

    return checks


def _convergence_figures(name: str, words: str) -> Callable[[Results], list[Data]]:
    def drawn(results: Results) -> list[Data]:
        some = [results[need] for need in NEEDS]
        return [figures.row(*(curves(data, words, [column(data, name, "")]) for data in some))]

    return drawn


def _beside(results: Results) -> list[Data]:
    rows: list[list[Any]] = []
    for need in NEEDS:
        data = results[need]
        both = [
            typical_ratio(span(data, name, "late"), span(data, name, "early")).as_dict()
            for name in ("divergence", "step")
        ]
        kind = "total variation" if is_table(data) else "energy distance"
        rows.append([NAMES[data["env"]], *both, distance_ratio(data).as_dict(), kind])
    head = ["env", "KL", "length of the step", "distance of what is visited", "measured as"]
    return [figures.table("Late over early, per update", head, rows)]


_STEP, _KL = "length of the actor's step", "KL(before | after)"

_claim = partial(Claim, topic=TOPIC, needs=NEEDS)

CLAIMS = (
    _claim(
        id="visits-shift",
        says="What is visited changes with every update of the policy.",
        measured=MEASURED + LAWS,
        asks="The mean distance over the early updates, less the floor, is above 0; interval over "
        f"seeds. {SPANS}",
        checks=_shift_checks,
        figures=_figures,
        notes=SPAN_NOTES,
    ),
    _claim(
        id="visits-settle",
        says="Near convergence the law of what is visited settles.",
        measured=MEASURED + LAWS,
        asks=f"Distance per update, late over early, is below 1; interval over seeds. {SPANS}",
        checks=_settle_checks,
        figures=_ratios,
        notes=SPAN_NOTES,
    ),
    _claim(
        id="convergence-policy",
        says="Near convergence an update hardly changes the policy.",
        measured=MEASURED + "KL of the actions before and after the update, in the states that "
        "are visited before it.",
        asks=f"KL per update, late over early, is below 1; interval over seeds. {SPANS}",
        checks=_convergence_checks("divergence", "KL per update"),
        figures=lambda results: [
            *_convergence_figures("divergence", _KL)(results),
            *_beside(results),
        ],
    ),
    _claim(
        id="convergence-step",
        says="Near convergence an update hardly moves the weights.",
        measured=MEASURED + "Length of the difference of the actor's weights.",
        asks=f"Length of the step, late over early, is below 1; interval over seeds. {SPANS}",
        checks=_convergence_checks("step", _STEP),
        figures=_convergence_figures("step", _STEP),
    ),
)
