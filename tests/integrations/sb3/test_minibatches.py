"""Mini-batches are measured as training sees them, and nothing of the training is changed."""

import numpy as np
import pytest
from stable_baselines3 import PPO
from stable_baselines3.common.env_util import make_vec_env

from nbyt.integrations.sb3 import GradientProbe


def cartpole(**given) -> PPO:
    return PPO("MlpPolicy", make_vec_env("CartPole-v1", 8, seed=3), n_steps=32, seed=3, **given)


def test_minibatches_are_what_training_saw() -> None:
    model = cartpole(n_epochs=2, batch_size=64)
    probe = GradientProbe(every=1)
    model.learn(256, callback=probe)
    rows = probe.records[0]["minibatches"]
    assert [row["epoch"] for row in rows] == [0] * 4 + [1] * 4
    assert rows[0]["ratio_low"] == pytest.approx(1, abs=1e-5)
    assert rows[0]["clip_fraction"] == 0.0
    assert rows[-1]["ratio_high"] > 1.0001
    # All samples once in an epoch: at ratio 1 mini-batches point along the batch, on average.
    assert np.mean([row["cosine"] for row in rows[:4]]) > 0.3
    mean = model.logger.name_to_value["train/clip_fraction"]
    assert np.mean([row["clip_fraction"] for row in rows]) == pytest.approx(mean, abs=1e-6)
    assert "get" not in vars(model.rollout_buffer)
    assert "evaluate_actions" not in vars(model.policy) and "train" not in vars(model)
    assert not model.policy.optimizer._optimizer_step_pre_hooks


def test_one_minibatch_that_is_the_whole_batch_points_along_it() -> None:
    model = cartpole(n_epochs=1, batch_size=256)
    probe = GradientProbe(every=1)
    model.learn(256, callback=probe)
    (row,) = probe.records[0]["minibatches"]
    assert row["cosine"] == pytest.approx(1.0, abs=1e-4)


def test_what_a_user_put_in_its_place_is_put_back_even_after_an_error() -> None:
    model = cartpole(n_epochs=1)
    own = model.policy.evaluate_actions
    model.policy.evaluate_actions = lambda *given: own(*given)
    mine = model.policy.evaluate_actions
    model.learn(256, callback=GradientProbe(every=1))
    assert model.policy.evaluate_actions is mine

    def broken(*_):
        raise OSError("a full disk")

    hook = model.policy.optimizer.register_step_pre_hook(broken)
    with pytest.raises(OSError, match="full disk"):
        model.learn(256, callback=GradientProbe(every=1))
    hook.remove()
    assert model.policy.evaluate_actions is mine
    assert "get" not in vars(model.rollout_buffer) and "train" not in vars(model)
    assert not model.policy.optimizer._optimizer_step_pre_hooks
