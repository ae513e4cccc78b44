"""Optuna on replayed curves: TPE and GP samplers, with pruners.

A trial is a training with a seed of its own; it reports at every eighth, and may be pruned there.
"""

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from benchmarks.proving.replay import Choice, Ground, Learn, Replay, Rule

_REPORTS = 8
# TPE draws at random at first, ten times unless told otherwise: more than the budget allows.
_STARTUP = 3


class OptunaSearch:
    """Trials until the budget is used up; the best of those that were finished."""

    def __init__(self, sampler: Callable[[int], Any], pruner: Callable[[], Any]) -> None:
        self._sampler, self._pruner = sampler, pruner

    def choose(self, cell: Replay, budget: float, key: np.random.Generator) -> Choice:
        """Choose by whole and pruned trainings."""
        import optuna

        optuna.logging.set_verbosity(optuna.logging.ERROR)
        seed = int(key.integers(2**31))
        study = optuna.create_study(
            direction="maximize", sampler=self._sampler(seed), pruner=self._pruner()
        )
        seen: list[tuple[float, float, int]] = []
        number = 0
        while budget - cell.spent > 1 / _REPORTS - 1e-9:
            trial = study.ask()
            place = trial.suggest_int("log2_steps", 0, len(cell.steps) - 1)
            score, done = self._trial(cell, trial, cell.steps[place], number, budget)
            finished = done > 1 - 1e-9
            state = optuna.trial.TrialState.COMPLETE if finished else None
            study.tell(trial, score if finished else None, state or optuna.trial.TrialState.PRUNED)
            seen.append((done, score, cell.steps[place]))
            number += 1
        longest = max(done for done, _, _ in seen)
        best = max((score, steps) for done, score, steps in seen if done == longest)
        return Choice(best[1], cell.spent)

    def _trial(
        self, cell: Replay, trial: Any, steps: int, seed: int, budget: float
    ) -> tuple[float, float]:
        """The score of a trial, and the part of a training after which it ended."""
        score, done = -np.inf, 0.0
        for report in range(1, _REPORTS + 1):
            if cell.spent + 1 / _REPORTS > budget + 1e-9:
                break
            done = report / _REPORTS
            curve = cell.train(steps, seed, done)
            score = float(((curve[1:] + curve[:-1]) / 2).mean())
            trial.report(score, report)
            if trial.should_prune():
                break
        return score, done


def searching(sampler: str, pruner: str) -> Learn:
    """A search with the sampler and the pruner of these names."""

    def learn(references: Sequence[Ground]) -> Rule:
        import optuna

        samplers = {
            "TPE": lambda seed: optuna.samplers.TPESampler(seed=seed, n_startup_trials=_STARTUP),
            "GP": lambda seed: optuna.samplers.GPSampler(seed=seed, n_startup_trials=_STARTUP),
        }
        pruners = {
            "median": lambda: optuna.pruners.MedianPruner(n_startup_trials=2, n_warmup_steps=1),
            "Hyperband": lambda: optuna.pruners.HyperbandPruner(
                min_resource=1, max_resource=_REPORTS
            ),
        }
        return OptunaSearch(samplers[sampler], pruners[pruner])

    return learn
