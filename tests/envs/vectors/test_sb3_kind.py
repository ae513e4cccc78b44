"""Laws of VecEnvs that the law of all adapters (test_protocol) does not meet."""

import corridor_vectors
import gymnasium
import numpy as np
import pytest

pytest.importorskip("stable_baselines3")

from stable_baselines3.common.vec_env import DummyVecEnv

from nbyt.envs.vectors.sb3_kind import SB3Vector


def test_env_i_has_the_first_seed_plus_i() -> None:
    vector = SB3Vector(DummyVecEnv([lambda: gymnasium.make("CartPole-v1")] * 3))
    one = gymnasium.make("CartPole-v1")
    rows = vector.reset([7, 100, 200])
    np.testing.assert_allclose(rows, [one.reset(seed=7 + i)[0] for i in range(3)])


def test_a_restart_touches_no_other_env() -> None:
    vector = SB3Vector(corridor_vectors.vec_env(2))
    vector.reset([0, 1])
    rows = [vector.step(np.zeros(2, int)).observation for _ in range(2)][-1]
    fresh = vector.restart(np.array([True, False]), rows)
    np.testing.assert_allclose(fresh, [[0.25, 0], [0, 2]])
    np.testing.assert_allclose(vector.step(np.array([1, 0])).observation, [[0.5, 1], [0, 3]])


def test_envs_in_a_wrapper_are_not_restarted_behind_its_back() -> None:
    assert SB3Vector(corridor_vectors.vec_env(2)).restarts
    assert not SB3Vector(corridor_vectors.monitored(2)).restarts
