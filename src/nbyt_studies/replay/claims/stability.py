"""Claims that random draws steady learning: oscillation, divergence, policies, improvements."""

from collections.abc import Callable, Iterator
from functools import partial
from itertools import pairwise

from nbyt.report import figures
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
    TOPIC,
    Seeds,
    average,
    chance_mark,
    curves,
    each,
    less,
    listed,
)
from nbyt_studies.study import Claim, Results
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
        marks = chance_mark(env["random_returns"])
        words = "return of training's episodes"
        return curves(env["env"], words, _conditions(env), "curve", every, marks)

    return figures.row(*(drawn(env) for env in usual(results)))


def errors(results: Results) -> list[Data]:
    """Draw the error of Q along the runs, where the truth is known."""
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
    """Draw the level of Q-values along the runs of all tasks, and how they moved."""
    return _q_values(results["stability"]["envs"], results["stability"]["every"])


def q_values(results: Results) -> list[Data]:
    """Draw the same of the usual tasks."""
    return _q_values(usual(results), results["stability"]["every"])


def _q_values(envs: list[Data], every: int) -> list[Data]:
    head = ["oscillation", "share diverged", "highest mean Q of each seed"]

    def cells(env: Data, seeds: Seeds) -> list[str | Number]:
        digits = 2 if env["possible"] < 10 else 0
        share_ = diverged(env, seeds).as_dict()
        return [average(seeds, "oscillation"), share_, listed(seeds, "highest", digits)]

    return [_levels(envs, every), _table(envs, head, cells)]


def policies(results: Results) -> list[Data]:
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


_MEASURED = (
    "DQN with a 64x64 network, 24,000 steps of CartPole-v1 and of FrozenLake-v1, a mini-batch of "
    "64 every 4 steps, all transitions kept, 20 seeds (quick: 4). Mini-batches are drawn at "
    "random, are neighbours in time from a random place of the buffer, or are the 64 newest "
    "transitions: in each case a transition is used 16 times on average. "
)
_Pair = tuple[dict[str, str], Data, Seeds, Seeds]


def _pairs(envs: list[Data]) -> Iterator[_Pair]:
    for env in envs:
        for name, words in OTHERS.items():
            case = {"instead of random draws": words, "env": env["env"]}
            yield case, env, env["samplings"][RANDOM], env["samplings"][name]


def _oscillation(results: Results) -> list[Check]:
    words = "oscillation of Q-values, over that of random draws"
    return [
        Check(
            case,
            words,
            typical_ratio(each(other, "oscillation"), each(own, "oscillation")).as_dict(),
            low=1,
        )
        for case, _, own, other in _pairs(usual(results))
    ]


def _divergence(results: Results) -> list[Check]:
    words = "share of seeds that diverge, less that of random draws"
    return [
        Check(
            case, words, share_difference(diverged(env, other), diverged(env, own)).as_dict(), low=0
        )
        for case, env, own, other in _pairs(results["stability"]["envs"])
    ]


def _better(results: Results) -> list[Check]:
    found = []
    for case, _, own, other in _pairs(usual(results)):
        number = less(own, other, "final_return")
        measure = {"measure": "final return"}
        found.append(
            Check({**case, **measure}, "final return, random draws less these", number, low=0)
        )
        if "errors" in own[0]:
            last = [[seed["errors"][-1] for seed in seeds] for seeds in (other, own)]
            found.append(
                Check(
                    {**case, "measure": "error of Q"},
                    "|Q - Q*| at the end, over that of random draws",
                    typical_ratio(*last).as_dict(),
                    low=1,
                )
            )
    return found


def _consistent(results: Results) -> list[Check]:
    found = []
    for case, _, own, other in _pairs(usual(results)):
        down = mean_of([a - b for a, b in zip(falls(other), falls(own), strict=True)])
        spread = spread_ratio(each(other, "final_return"), each(own, "final_return"))
        found += [
            Check(
                {**case, "measure": "setbacks"},
                "share of falls in the learning curve, less that of random draws",
                down.as_dict(),
                low=0,
            ),
            Check(
                {**case, "measure": "spread"},
                "standard deviation of final returns over seeds, over that of random draws",
                spread.as_dict(),
                low=1,
            ),
        ]
    return found


def _notes(*more: str) -> Callable[[Results], list[str]]:
    common = (
        "One setting, found on CartPole-v1 with random draws, serves all; another setting for each "
        "way to draw might do better. Neighbours in time are drawn from the whole buffer, so the "
        "buffer as a whole is seen either way: only mini-batches differ."
    )
    return lambda results: [common, *more]


_claim = partial(Claim, topic=TOPIC, needs=("stability",))

CLAIMS = (
    _claim(
        id="training-oscillation",
        says="Experiences used in the order in which they came make learning oscillate; random "
        "mini-batches lessen that.",
        measured=_MEASURED + "The highest Q-value of 128 states of the warm-up, every 1,000 steps "
        "after the first quarter: the standard deviation of its changes, root mean square over "
        "states, relative to the mean |Q|.",
        asks="The ratio of this oscillation to that of random draws is above 1; geometric mean of "
        "pairs with the same seed.",
        checks=_oscillation,
        figures=q_values,
        notes=_notes(
            "A steady rise counts nothing. A network that learns nothing does not oscillate: the "
            "figure shows the Q-values themselves."
        ),
    ),
    _claim(
        id="training-divergence",
        says="Experiences used in the order in which they came make learning diverge; random "
        "mini-batches lessen that.",
        measured=_MEASURED + "A run has diverged if the mean over states of the highest Q-value "
        "was ever more than 1.1 times what is possible: 100 on CartPole-v1, where a reward of 1 "
        "comes at every step and gamma is .99, and 1 on FrozenLake-v1, where it comes once. The "
        "network is copied to the target network every 400 steps, on CartPole-v1 also every 40 and "
        "every 120.",
        asks="The share of seeds that diverge less that of random draws is above 0.",
        checks=_divergence,
        figures=all_q_values,
        notes=_notes(
            "Twenty seeds tell shares that differ much, and no others.",
            "Copies every 400 steps are 60 in a run, and each lets Q-values grow by about one "
            "reward at most: they can hardly get beyond 100. Copies every 40 steps were added when "
            "nothing had been seen to diverge, and every 120 when all of those had. Where no seed "
            "or every seed diverges, whatever is drawn, nothing can be told of the draws.",
        ),
    ),
    _claim(
        id="training-policy",
        says="Random mini-batches lead to a better policy.",
        measured=_MEASURED + "Mean return of 64 whole episodes of the last policy, always with "
        "the best action; on FrozenLake-v1 also the mean |Q - Q*| over all states and actions, "
        "with the exact Q*.",
        asks="Final return with random draws less that with the others is above 0, pairs with the "
        "same seed; |Q - Q*| of the others over that of random draws is above 1.",
        checks=_better,
        figures=lambda results: [*policies(results), *errors(results)],
        notes=_notes("Q* has no time limit; learning treats a time limit as no end either."),
    ),
    _claim(
        id="training-consistency",
        says="Random mini-batches lead to more consistent improvement.",
        measured=_MEASURED + "How much of the learning curve's way up and down (mean return of "
        "each 1,000 steps) is down; and the standard deviation of the final return over seeds.",
        asks="The share of falls less that of random draws is above 0, pairs with the same seed; "
        "the ratio of standard deviations is above 1.",
        checks=_consistent,
        figures=policies,
        notes=_notes(
            "Runs that learn nothing end alike: a small spread is a merit only beside a good "
            "return. The interval of a ratio of spreads holds for normal returns."
        ),
    ),
)
