"""Batches as sources give them: advantages and rewards are scaled as the settings say."""

from dataclasses import replace

import jax
import numpy as np
import pytest
from tests.training.ppo_runs import LAYOUT, started

from nbyt.training.plan import PPOSettings


@pytest.mark.parametrize("mode", ["minibatch", "batch", "off"])
def test_advantage_normalisation_modes_differ_only_where_they_should(mode: str) -> None:
    settings = PPOSettings(normalise_advantages=mode)
    algorithm = started(settings)
    batch = algorithm.source.gather(algorithm.learner, jax.random.key(1)).batch
    mean, spread = float(batch.advantage.mean()), float(batch.advantage.std())
    if mode == "batch":
        assert abs(mean) < 1e-5 and abs(spread - 1) < 1e-3
    else:
        assert abs(spread - 1) > 1e-2


def test_reward_scale_follows_the_definition() -> None:
    """Rewards are divided by the spread of each env's running discounted return."""
    settings = PPOSettings(normalise_rewards=True, gamma=0.9, normalise_advantages="off")
    plain = replace(settings, normalise_rewards=False)
    raw, normalised = started(plain), started(settings)
    rewards = np.ones((LAYOUT.steps, LAYOUT.envs))  # CartPole pays 1 a step
    gathered = normalised.source.gather(normalised.learner, jax.random.key(3))
    batch = raw.source.gather(raw.learner, jax.random.key(3)).batch
    assert gathered.scale is not None
    spread = float(np.sqrt(gathered.scale.moments.variance))
    scaled = np.asarray(gathered.batch.advantage).reshape(rewards.shape)
    unscaled = np.asarray(batch.advantage).reshape(rewards.shape)
    # Reward enters the last advantage of a rollout linearly with weight 1.
    np.testing.assert_allclose(
        scaled[-1] - unscaled[-1], np.ones(LAYOUT.envs) / spread - 1, atol=1e-4
    )
