"""A frozen policy of SB3 collects pools as nbyt's own does."""

import numpy as np
from stable_baselines3 import PPO
from stable_baselines3.common.env_util import make_vec_env
from stable_baselines3.common.vec_env import VecNormalize
from tests.integrations.sb3.tables import table_model

from nbyt.exact import garnet, moments
from nbyt.integrations.sb3 import GradientProbe


def test_a_pool_measures_alignment_as_the_oracle_does() -> None:
    """One pool, so the truth may lie outside of a 95 % interval: by up to its width."""
    control = garnet(6, 2, 0)
    model = table_model(control, envs=16, steps=8)
    probe = GradientProbe(every=1, pool=24, steps=[2, 8])
    model.learn(16 * 8, callback=probe)
    (record,) = probe.records
    for layout in record["pool"]["layouts"]:
        steps, envs = layout["steps"], layout["envs"]
        exact = moments(
            control.env, control.stage, steps=steps, gamma=control.gamma, lam=control.lam
        ).actor
        mean, goal = np.asarray(exact.mean).ravel(), np.asarray(exact.reference).ravel()
        cosine = mean @ goal / np.linalg.norm(mean) / np.linalg.norm(goal)
        noise = mean @ mean / (mean @ mean + float(exact.variance) / envs)
        for name, truth in (("cosine", cosine), ("alignment", cosine * abs(cosine) * noise)):
            assert_near(layout["actor"][name], truth)
        assert_near(layout["actor"]["variance"], float(exact.variance) / envs)


def assert_near(found: dict[str, float], truth: float) -> None:
    """The truth lies in an interval three times as wide."""
    width = found["high"] - found["low"]
    assert found["low"] - width <= truth <= found["high"] + width


def test_a_pool_of_a_normalised_training_has_returns_in_the_env_s_own_rewards() -> None:
    envs = VecNormalize(make_vec_env("Pendulum-v1", 8, seed=0))
    model = PPO("MlpPolicy", envs, n_steps=64, seed=0)
    probe = GradientProbe(every=1, pool=4, minibatches=False)
    model.learn(512, callback=probe)
    assert -1800 < probe.records[0]["pool"]["mean_return"]["value"] < -700
