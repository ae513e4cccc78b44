"""SGD, RMSprop and Adam on the same mini-batches, each with a learning rate of its own."""

import numpy as np

from nbyt.results.values import Data
from nbyt.studies.bench import Bench
from nbyt.studies.numbers import shortened
from nbyt.studies.replay.trainings import CARTPOLE, EVERY, outcome, random_return, trained
from nbyt.studies.study import Experiment

# Learning rates to choose from, a factor of 2 to 3 apart around what each is used with.
RATES = {
    "sgd": (3e-3, 1e-2, 3e-2, 1e-1),
    "rmsprop": (5e-4, 1e-3, 2e-3, 4e-3),
    "adam": (5e-4, 1e-3, 2e-3, 4e-3),
}
SEEDS = (3, 8)
CHOOSING = (1, 3)
# Seeds that choose the rates are none of those that compare.
_APART = 100


def run(bench: Bench) -> Data:
    """Each optimiser: how its rates did, and runs on fresh seeds with the best of them."""
    seeds = range(bench.pick(*SEEDS))
    return {
        "every": EVERY,
        "random_returns": shortened(random_return(bench, CARTPOLE, seed) for seed in seeds),
        "choosing": bench.pick(*CHOOSING),
        "rows": [_row(bench, name) for name in RATES],
    }


def _row(bench: Bench, name: str) -> Data:
    apart = range(_APART, _APART + bench.pick(*CHOOSING))
    tried = [_mean(_outcomes(bench, name, rate, apart)) for rate in RATES[name]]
    best = RATES[name][int(np.argmax(tried))]
    return {
        "optimiser": name,
        "rates": list(RATES[name]),
        "tried": shortened(tried),
        "learning_rate": best,
        "seeds": _outcomes(bench, name, best, range(bench.pick(*SEEDS))),
    }


def _outcomes(bench: Bench, name: str, rate: float, seeds: range) -> list[Data]:
    return [outcome(trained(bench, seed, optimizer=name, learning_rate=rate)) for seed in seeds]


def _mean(outcomes: list[Data]) -> float:
    """What a rate is chosen by: the mean return on the way, less a matter of luck than the last."""
    return float(np.mean([one["on_the_way"] for one in outcomes]))


EXPERIMENTS = (Experiment("optimisers", "trainings by the optimiser", run),)
