"""Ways to draw, side by side: Q-values and learning curves, and what is read from them."""

from collections.abc import Callable
from itertools import pairwise

from nbyt.report.study import figures
from nbyt.results.values import Data
from nbyt.stats.estimate import Estimate
from nbyt.studies.numbers import mean_of, spread_of
from nbyt.studies.replay.claims.by_seed import Seeds, average, curves, each, listed
from nbyt.studies.shares import share
from nbyt.studies.study import Results
from nbyt.studies.verdict import Number

RANDOM = "uniform"
OTHERS = {"sequential": "neighbours in time", "newest": "no replay, the newest"}
_WORDS = {RANDOM: "random draws", **OTHERS}
# How far beyond what is possible Q-values must be to count as diverged.
_MARGIN = 1.1


def diverged(env: Data, seeds: Seeds) -> Estimate:
    """The share of seeds whose Q-values went beyond what is possible."""
    beyond = [seed["highest"] > _MARGIN * env["possible"] for seed in seeds]
    return share(sum(beyond), len(beyond))


def share_of_falls(curve: list[float]) -> float:
    """How much of a curve's way up and down is down; 1/2 where it does not move."""
    moves = [after - before for before, after in pairwise(curve)]
    way = sum(map(abs, moves))
    return sum(-move for move in moves if move < 0) / way if way else 0.5


def falls(seeds: Seeds) -> list[float]:
    """Each seed's share of falls."""
    return [share_of_falls(seed["curve"]) for seed in seeds]


def usual(results: Results) -> list[Data]:
    """Tasks in the setting that was found to learn."""
    return [env for env in results["stability"]["envs"] if env["usual"]]


def _conditions(env: Data) -> dict[str, Seeds]:
    return {words: env["samplings"][name] for name, words in _WORDS.items()}


def _levels(envs: list[Data], every: int) -> Data:
    return figures.row(
        *(
            curves(
                env["env"],
                "mean of the highest Q-value",
                _conditions(env),
                "levels",
                every,
                [(env["possible"], "largest possible")],
            )
            for env in envs
        )
    )


def _returns(results: Results) -> Data:
    every = results["stability"]["every"]

    def drawn(env: Data) -> Data:
        chance = mean_of(env["random_returns"]).value
        marks = [] if chance is None else [(chance, "random actions")]
        words = "return of training's episodes"
        return curves(env["env"], words, _conditions(env), "curve", every, marks)

    return figures.row(*(drawn(env) for env in usual(results)))


def errors(results: Results) -> list[Data]:
    """The error of Q along the runs, where the truth is known."""
    every = results["stability"]["every"]
    return [
        curves(env["env"], "mean |Q - Q*|", _conditions(env), "errors", every)
        for env in usual(results)
        if "errors" in env["samplings"][RANDOM][0]
    ]


def _table(
    envs: list[Data], head: list[str], cells: Callable[[Data, Seeds], list[str | Number]]
) -> Data:
    rows: list[list[str | Number]] = [
        [env["env"], words, *cells(env, seeds)]
        for env in envs
        for words, seeds in _conditions(env).items()
    ]
    return figures.table("Every environment, every way to draw", ["env", "draws", *head], rows)


def all_q_values(results: Results) -> list[Data]:
    """The level of Q-values along the runs of all tasks, and how they moved."""
    return _q_values(results["stability"]["envs"], results["stability"]["every"])


def q_values(results: Results) -> list[Data]:
    """The same of the usual tasks."""
    return _q_values(usual(results), results["stability"]["every"])


def _q_values(envs: list[Data], every: int) -> list[Data]:
    head = ["oscillation", "share diverged", "highest mean Q of each seed"]

    def cells(env: Data, seeds: Seeds) -> list[str | Number]:
        digits = 2 if env["possible"] < 10 else 0
        share_ = diverged(env, seeds).as_dict()
        return [average(seeds, "oscillation"), share_, listed(seeds, "highest", digits)]

    return [_levels(envs, every), _table(envs, head, cells)]


def policies(results: Results) -> list[Data]:
    """Learning curves, and how the runs ended."""
    head = ["final return", "of each seed", "spread over seeds", "share of falls"]

    def cells(env: Data, seeds: Seeds) -> list[str | Number]:
        returns = each(seeds, "final_return")
        digits = 2 if env["possible"] < 10 else 0
        return [
            average(seeds, "final_return"),
            listed(seeds, "final_return", digits),
            spread_of(returns).as_dict(),
            mean_of(falls(seeds)).as_dict(),
        ]

    return [_returns(results), _table(usual(results), head, cells)]
