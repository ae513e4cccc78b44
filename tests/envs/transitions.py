"""The valid transitions of running host envs, in one form for every way of resetting.

A policy that does not see the filler rows cannot tell the adapters apart: that is the law.
"""

from typing import Any, NamedTuple

import numpy as np


class Seen(NamedTuple):
    """One valid transition of one env; `next_observation` is the one before any reset."""

    observation: Any
    action: Any
    reward: float
    terminated: bool
    truncated: bool
    next_observation: Any


def valid_transitions(envs, seeds: list[int], actions: list[np.ndarray]) -> list[list[Seen]]:
    """The valid transitions of each env, env i fed with actions[i] one by one per *valid* step.

    Steps until every env has used its actions up; an env that has none left gets its last one
    again and those transitions are dropped.
    """
    observation = envs.reset(seeds)
    used = np.zeros(envs.envs, int)
    seen: list[list[Seen]] = [[] for _ in range(envs.envs)]
    lengths = np.array([len(row) for row in actions])
    while (used < lengths).any():
        at = np.minimum(used, lengths - 1)
        action = np.array([row[i] for row, i in zip(actions, at, strict=True)])
        step = envs.step(action)
        for env in np.flatnonzero(step.valid & (used < lengths)):
            seen[env].append(_seen(observation, action, step, env))
        used += step.valid & (used < lengths)
        observation = step.observation
    return seen


def assert_same_transitions(first: list[list[Seen]], second: list[list[Seen]]) -> None:
    """Both are the same transitions, in values and in count."""
    assert [len(rows) for rows in first] == [len(rows) for rows in second]
    for rows, others in zip(first, second, strict=True):
        for seen, other in zip(rows, others, strict=True):
            for field in Seen._fields:
                np.testing.assert_allclose(
                    getattr(seen, field), getattr(other, field), rtol=1e-6, err_msg=field
                )


def _seen(observation, action, step, env) -> Seen:
    ended = step.terminated[env] or step.truncated[env]
    after = step.final_observation if ended else step.observation
    return Seen(
        np.array(observation[env]),
        np.array(action[env]),
        float(step.reward[env]),
        bool(step.terminated[env]),
        bool(step.truncated[env]),
        np.array(after[env]),
    )
