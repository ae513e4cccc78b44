"""Mini-batches are said to go with stochastic gradient descent and its variants."""

from nbyt.report.study import figures
from nbyt.results.values import Data
from nbyt.studies.numbers import mean_of
from nbyt.studies.replay.claims.by_seed import TOPIC, average, curves, each, less, listed
from nbyt.studies.study import Claim, Results
from nbyt.studies.verdict import Check

_NAMES = {"sgd": "SGD", "rmsprop": "RMSprop", "adam": "Adam"}
# What counts as learning: a tenth of the 500 that can be had.
_LEARNT = 50.0


def _gain(data: Data, row: Data) -> list[float]:
    """Each seed's final return less that of random actions."""
    returns = zip(each(row["seeds"], "final_return"), data["random_returns"], strict=True)
    return [own - chance for own, chance in returns]


def _checks(results: Results) -> list[Check]:
    data = results["optimisers"]
    return [
        Check(
            {"optimiser": _NAMES[row["optimiser"]]},
            "final return less that of random actions",
            mean_of(_gain(data, row)).as_dict(),
            low=_LEARNT,
        )
        for row in data["rows"]
    ]


def _figures(results: Results) -> list[Data]:
    data = results["optimisers"]
    conditions = {
        f"{_NAMES[row['optimiser']]}, rate {row['learning_rate']:g}": row["seeds"]
        for row in data["rows"]
    }
    chance = mean_of(data["random_returns"]).value
    marks = [] if chance is None else [(chance, "random actions")]
    words = "return of training's episodes"
    return [
        curves("CartPole-v1", words, conditions, "curve", data["every"], marks),
        _ranked(data),
        _rates(data),
    ]


def _ranked(data: Data) -> Data:
    """Optimisers, the best first, each with its distance to the best."""
    ordered = sorted(data["rows"], key=lambda row: -sum(each(row["seeds"], "final_return")))
    rows = [
        [
            _NAMES[row["optimiser"]],
            average(row["seeds"], "final_return"),
            less(ordered[0]["seeds"], row["seeds"], "final_return") if row != ordered[0] else "",
            average(row["seeds"], "on_the_way"),
            listed(row["seeds"], "final_return"),
        ]
        for row in ordered
    ]
    head = ["optimiser", "final return", "behind the best", "mean return on the way"]
    return figures.table("CartPole-v1, on fresh seeds", [*head, "final return of each seed"], rows)


def _rates(data: Data) -> Data:
    rows = [
        [
            _NAMES[row["optimiser"]],
            ", ".join(
                f"{rate:g}: {value:.0f}"
                for rate, value in zip(row["rates"], row["tried"], strict=True)
            ),
            f"{row['learning_rate']:g}",
        ]
        for row in data["rows"]
    ]
    head = ["optimiser", "learning rate: mean return on the way", "chosen"]
    return figures.table(f"How rates were chosen, {data['choosing']} seeds each", head, rows)


def _notes(results: Results) -> list[str]:
    ends = [
        _NAMES[row["optimiser"]]
        for row in results["optimisers"]["rows"]
        if row["learning_rate"] in (row["rates"][0], row["rates"][-1])
    ]
    found = [
        "That mini-batches are commonly used with these optimisers is no matter of measurement; "
        "that they learn with them is.",
        "The other settings were found with Adam.",
    ]
    if ends:
        found.append(
            f"The rate chosen is at an end of the grid for {', '.join(ends)}: one beyond it may "
            "do better."
        )
    return found


CLAIMS = (
    Claim(
        id="optimisers",
        topic=TOPIC,
        says="Mini-batch training goes with stochastic gradient descent or its variants.",
        measured="DQN with a 64x64 network, 24,000 steps of CartPole-v1, a random mini-batch of 64 "
        "every 4 steps, with SGD, RMSprop and Adam. Each has the best of four learning rates, "
        "chosen by the mean return on the way with seeds of their own (3; quick: 1), and is then "
        "run with 8 fresh seeds (quick: 3).",
        asks="Final return less that of random actions is above 50, a tenth of what can be had.",
        needs=("optimisers",),
        checks=_checks,
        figures=_figures,
        notes=_notes,
    ),
)
