"""Clipping prevents the policy from changing too much in one update."""

from nbyt.report.study import figures
from nbyt.results.values import Data
from nbyt.studies.numbers import mean_of, typical_ratio
from nbyt.studies.study import Claim, Results
from nbyt.studies.verdict import Check


def _name(data: Data) -> str:
    return data["env"].partition(":")[2]


def _means(data: Data, side: str) -> list[float]:
    """Each seed's mean KL per update."""
    return [sum(seed[side]["divergence"]) / len(data["at"]) for seed in data["seeds"]]


def _checks(results: Results) -> list[Check]:
    return [
        Check(
            {"env": _name(data)},
            "KL per update, with clipping over without",
            typical_ratio(_means(data, "with"), _means(data, "without")).as_dict(),
            high=1,
        )
        for data in results["clipping"]["envs"]
    ]


def _figures(results: Results) -> list[Data]:
    drawn = []
    for data in results["clipping"]["envs"]:
        some = []
        for side, words in (("with", f"clip {data['clip']}"), ("without", "no clipping")):
            columns = zip(*(seed[side]["divergence"] for seed in data["seeds"]), strict=True)
            numbers = [mean_of(column).as_dict() for column in columns]
            some.append(figures.series(words, data["at"], numbers))
        title = f"{_name(data)}, 16 x 128, {len(data['seeds'])} seeds"
        drawn.append(figures.lines(title, "update", "KL(before | after)", some))
    return [figures.row(*drawn)]


CLAIMS = (
    Claim(
        id="clipping-near",
        topic="The smaller statements",
        says="Clipping keeps the policy after several mini-batch steps near the one that "
        "collected the batch.",
        measured="CartPole-v1 and Pendulum-v1, 16 x 128, mini-batch 64, 10 epochs, 5 seeds "
        "(quick: 3), each trained twice from the same weights: ratio clipped at .2, and not at "
        "all. KL between the policies before and after three updates of the first eighth of the "
        "run, in states that are visited before.",
        asks="Each env's KL per update, with clipping over without, is below 1; interval over "
        "seeds.",
        needs=("clipping",),
        checks=_checks,
        figures=_figures,
    ),
)
