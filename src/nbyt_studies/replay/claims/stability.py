"""Claims that random draws steady learning: oscillation, divergence, policies, improvements."""

from collections.abc import Callable, Iterator
from itertools import pairwise

from nbyt.report import figures
from nbyt.results.study import Figures, Row, Table
from nbyt.results.values import Data
from nbyt.stats.estimate import Estimate
from nbyt_studies.numbers import (
    mean_of,
    share,
    share_difference,
    spread_of,
    spread_ratio,
    typical_ratio,
)
from nbyt_studies.replay.claims.buffers import (
    Seeds,
    average,
    chance_mark,
    curves,
    each,
    less,
    listed,
)
from nbyt_studies.study import Evidence, Results
from nbyt_studies.verdict import Check, Number

RANDOM = "uniform"
OTHERS = {"sequential": "neighbours in time", "newest": "no replay, the newest"}
_WORDS = {RANDOM: "random draws", **OTHERS}
# How far beyond what is possible Q-values must be to count as diverged.
_MARGIN = 1.1


def diverged(env: Data, seeds: Seeds) -> Estimate:
    """Return the share of seeds whose Q-values went beyond what is possible."""
    beyond = [seed["highest"] > _MARGIN * env["possible"] for seed in seeds]
    return share(sum(beyond), len(beyond))


def share_of_falls(curve: list[float]) -> float:
    """Return how much of a curve's movement is down; 1/2 where it does not move."""
    moves = [after - before for before, after in pairwise(curve)]
    way = sum(map(abs, moves))
    return sum(-move for move in moves if move < 0) / way if way else 0.5


def falls(seeds: Seeds) -> list[float]:
    """Return each seed's share of falls."""
    return [share_of_falls(seed["curve"]) for seed in seeds]


def usual(results: Results) -> list[Data]:
    """Return tasks in the setting that was found to learn."""
    return [env for env in results["stability"]["envs"] if env["usual"]]


def _conditions(env: Data) -> dict[str, Seeds]:
    return {words: env["samplings"][name] for name, words in _WORDS.items()}


def _levels(envs: list[Data], every: int) -> Row:
    charts = []
    for env in envs:
        words, marks = "mean of the highest Q-value", [(env["possible"], "largest possible")]
        charts.append(curves(env["env"], words, _conditions(env), "levels", every, marks))
    return figures.row(*charts)


def _returns(results: Results) -> Row:
    charts = []
    for env in usual(results):
        words, marks = "return of training's episodes", chance_mark(env["random_returns"])
        every = results["stability"]["every"]
        charts.append(curves(env["env"], words, _conditions(env), "curve", every, marks))
    return figures.row(*charts)


def errors(results: Results) -> Figures:
    """Draw the error of Q along the runs, where the truth is known."""
    every = results["stability"]["every"]
    return [
        curves(env["env"], "mean |Q - Q*|", _conditions(env), "errors", every)
        for env in usual(results)
        if "errors" in env["samplings"][RANDOM][0]
    ]


def _table(
    envs: list[Data], head: list[str], cells: Callable[[Data, Seeds], list[str | Number]]
) -> Table:
    rows: list[list[str | Number]] = [
        [env["env"], words, *cells(env, seeds)]
        for env in envs
        for words, seeds in _conditions(env).items()
    ]
    return figures.table("Every environment, every way to draw", ["env", "draws", *head], rows)


def all_q_values(results: Results) -> Figures:
    """Draw the level of Q-values along the runs of all tasks, and how they moved."""
    return _q_values(results["stability"]["envs"], results["stability"]["every"])


def q_values(results: Results) -> Figures:
    """Draw the same of the usual tasks."""
    return _q_values(usual(results), results["stability"]["every"])


def _q_values(envs: list[Data], every: int) -> Figures:
    head = ["oscillation", "share diverged", "highest mean Q of each seed"]

    def cells(env: Data, seeds: Seeds) -> list[str | Number]:
        digits = 2 if env["possible"] < 10 else 0
        share_ = diverged(env, seeds).as_dict()
        return [average(seeds, "oscillation"), share_, listed(seeds, "highest", digits)]

    return [_levels(envs, every), _table(envs, head, cells)]


def policies(results: Results) -> Figures:
    """Draw learning curves, and how the runs ended."""
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


_Pair = tuple[dict[str, str], Data, Seeds, Seeds]


def _pairs(envs: list[Data]) -> Iterator[_Pair]:
    for env in envs:
        for name, words in OTHERS.items():
            case = {"instead of random draws": words, "env": env["env"]}
            yield case, env, env["samplings"][RANDOM], env["samplings"][name]


def _oscillation(results: Results) -> list[Check]:
    words = "oscillation of Q-values, over that of random draws"
    checks = []
    for case, _, own, other in _pairs(usual(results)):
        ratio = typical_ratio(each(other, "oscillation"), each(own, "oscillation"))
        checks.append(Check(case, words, ratio.as_dict(), low=1))
    return checks


def _divergence(results: Results) -> list[Check]:
    words = "share of seeds that diverge, less that of random draws"
    checks = []
    for case, env, own, other in _pairs(results["stability"]["envs"]):
        more = share_difference(diverged(env, other), diverged(env, own))
        checks.append(Check(case, words, more.as_dict(), low=0))
    return checks


def _better(results: Results) -> list[Check]:
    checks = []
    for case, _, own, other in _pairs(usual(results)):
        words, number = "final return, random draws less these", less(own, other, "final_return")
        checks.append(Check({**case, "measure": "final return"}, words, number, low=0))
        if "errors" in own[0]:
            last = [[seed["errors"][-1] for seed in seeds] for seeds in (other, own)]
            words = "|Q - Q*| at the end, over that of random draws"
            number = typical_ratio(*last).as_dict()
            checks.append(Check({**case, "measure": "error of Q"}, words, number, low=1))
    return checks


def _consistent(results: Results) -> list[Check]:
    checks = []
    for case, _, own, other in _pairs(usual(results)):
        down = mean_of([a - b for a, b in zip(falls(other), falls(own), strict=True)])
        spread = spread_ratio(each(other, "final_return"), each(own, "final_return"))
        words = "share of falls in the learning curve, less that of random draws"
        checks.append(Check({**case, "measure": "setbacks"}, words, down.as_dict(), low=0))
        words = "standard deviation of final returns over seeds, over that of random draws"
        checks.append(Check({**case, "measure": "spread"}, words, spread.as_dict(), low=1))
    return checks


EVIDENCE = {
    "training-oscillation": Evidence(_oscillation, q_values),
    "training-divergence": Evidence(_divergence, all_q_values),
    "training-policy": Evidence(_better, lambda results: [*policies(results), *errors(results)]),
    "training-consistency": Evidence(_consistent, policies),
}
