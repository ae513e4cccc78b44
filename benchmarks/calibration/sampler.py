"""Pools of tables drawn in NumPy, from the exact stationary law: many at once, without burn-in.

nbyt's own collection lets every chain go 1,000 to 2,000 steps before it counts, which is most of a
pool's time. It is used where a case says so; elsewhere chains come from here, with the same law.
"""

from functools import cached_property

import numpy as np
from jaxtyping import Float

from nbyt.collect.pool import Pool
from nbyt.exact import Control
from nbyt.exact.problem import pose
from nbyt.exact.walk import walk


class Sampler:
    """Draws chains of a control that has no time limit."""

    def __init__(self, control: Control) -> None:
        assert control.env.time_limit is None
        problem = pose(control.env, control.stage, steps=None, gamma=control.gamma, lam=control.lam)
        self._law = problem.stationary
        self._values = problem.scores.values
        self._walk = walk(control.env, problem.scores.policy, filler=False)

    def draw(self, generator: np.random.Generator, chains: int, steps: int) -> Pool:
        """`chains` independent stationary chains of `steps` steps."""
        made, observation = self._walk.outcomes, self._walk.observation
        actions = self._walk.policy.shape[1]
        states = np.empty((steps + 1, chains), int)
        taken, came = np.empty((steps, chains), int), np.empty((steps, chains), int)
        states[0] = generator.choice(len(self._law), chains, p=self._law / self._law.sum())
        for time in range(steps):
            chance = generator.random((2, chains))
            taken[time] = (chance[0] >= self._policy_edges[states[time]].T).sum(axis=0)
            came[time] = self._outcome(states[time] * actions + taken[time], chance[1])
            states[time + 1] = made.target[came[time]]
        value = self._values[observation[states[:-1]]].astype(np.float32)
        next_value = np.where(made.bootstraps, self._values[made.after], 0.0)[came]
        next_value = next_value.astype(np.float32)
        return Pool(
            observation[states[:-1]].astype(np.int32),
            taken.astype(np.int32),
            made.reward[came].astype(np.float32),
            value,
            next_value,
            next_value,
            ~made.carries[came],
            np.zeros((steps, chains), bool),
        )

    @cached_property
    def _policy_edges(self) -> Float[np.ndarray, "X A"]:
        """Where each action but the last ends on the way from 0 to 1."""
        return np.cumsum(self._walk.policy, axis=1)[:, :-1]

    @cached_property
    def _edges(self) -> tuple[np.ndarray, np.ndarray]:
        """Outcomes in the order of their pairs, and where each ends: pair + probability so far."""
        made = self._walk.outcomes
        order = np.argsort(made.pair, kind="stable")
        pair, probability = made.pair[order], made.probability[order]
        so_far = np.cumsum(probability)
        first = np.searchsorted(pair, pair)
        within = so_far - np.concatenate([[0.0], so_far])[first]
        last = np.append(pair[1:] != pair[:-1], True)
        return order, pair + np.where(last, 1.0, within)

    def _outcome(self, pair: np.ndarray, chance: np.ndarray) -> np.ndarray:
        order, edges = self._edges
        return order[np.searchsorted(edges, pair + chance, side="right")]


def split(pool: Pool, chains: int) -> list[Pool]:
    """The pool as several, each of so many of its chains."""
    places = range(0, pool.chains, chains)
    return [Pool(*(array[:, k : k + chains] for array in pool)) for k in places]
