"""The replay buffer holds what the env did, row by row."""

import jax
import numpy as np

from nbyt.envs import resolve
from nbyt.training.algorithms.dqn import DQNAlgorithm
from nbyt.training.dqn import DQNPlan, DQNSettings, ReplayLayout
from nbyt.training.plan import stage_updates

LAYOUT = ReplayLayout(envs=2, steps=4, minibatch=16, buffer=400, warm_up=100)


SETTINGS = DQNSettings(network="8", anneal=True, double=True, target_every=60)


def plan(env: str = "gymnax:CartPole-v1", updates: int = 400, **changes: object) -> DQNPlan:
    settings = changes.pop("settings", SETTINGS)
    layout = changes.pop("layout", LAYOUT)
    stages = stage_updates(updates)
    return DQNPlan(env, layout, updates * layout.fresh, 3, settings, stages, **changes)


def test_the_buffer_holds_what_the_env_did() -> None:
    always_random = DQNSettings(network="8", epsilon_end=1.0)
    algorithm = DQNAlgorithm(plan(settings=always_random), resolve("gymnax:CartPole-v1"))
    for made in algorithm.updates(1):
        if made.number >= 125:
            break
    rows = algorithm.experience(made.number)
    assert len(rows.reward) == 400 and rows.valid.all() and (rows.reward == 1).all()
    for env in range(2):  # rows of two envs alternate
        own = jax.tree.map(lambda x, env=env: x[env::2], rows)
        goes_on = ~own.terminated[:-1]
        assert np.array_equal(own.next_observation[:-1][goes_on], own.observation[1:][goes_on])
        apart = np.abs(own.next_observation[:-1] - own.observation[1:]).max(axis=1)[~goes_on]
        assert len(apart) > 3 and (apart > 0.1).all()
