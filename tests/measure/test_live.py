"""One batch of a training: what its units are, and estimates against gradients written out."""

import numpy as np
import pytest
from scipy.special import softmax

from nbyt.errors import UsageError
from nbyt.gradients.engines.own import StageEngine
from nbyt.measure.live import LiveBatch, Loss, measure_batch, pieces
from nbyt.policy.actor_critic import table


@pytest.mark.parametrize(
    ("envs", "steps", "cuts"), [(8, 1, 1), (64, 5, 1), (4, 128, 8), (1, 128, 32), (2, 9, 4)]
)
def test_few_envs_are_cut_into_pieces(envs: int, steps: int, cuts: int) -> None:
    assert pieces(envs, steps) == cuts


@pytest.mark.parametrize(("envs", "steps"), [(1, 7), (3, 3)])
def test_a_batch_with_too_little_in_it_is_refused(envs: int, steps: int) -> None:
    with pytest.raises(UsageError, match="independent"):
        pieces(envs, steps)


def batch_of(envs: int, steps: int) -> tuple[StageEngine, LiveBatch, np.ndarray]:
    """A table policy, a batch of noise, and the actor's contributions [T, N, P]."""
    generator = np.random.default_rng(0)
    logits = generator.normal(size=(3, 2)).astype(np.float32)
    stage = table(logits, np.zeros(3))
    state = generator.integers(0, 3, (steps, envs)).astype(np.int32)
    action = generator.integers(0, 2, (steps, envs)).astype(np.int32)
    advantage = generator.normal(1.0, 1.0, (steps, envs)).astype(np.float32)
    score = np.zeros((steps, envs, 3, 2))
    t, n = np.ogrid[:steps, :envs]
    score[t, n, state] = np.eye(2)[action] - softmax(logits, axis=1)[state]
    contributions = (score * advantage[..., None, None]).reshape(steps, envs, -1)
    batch = LiveBatch(state, action, advantage)
    return StageEngine(stage.policy, stage.params), batch, contributions


def test_the_variance_of_a_batch_is_that_of_its_envs() -> None:
    engine, batch, g = batch_of(16, 6)
    found = measure_batch(engine, batch, Loss(normalise=False))
    assert found.whole and (found.units, found.unit_steps) == (16, 6) and found.warnings == ()
    means = g.mean(axis=0)
    assert found.actor.variance.value == pytest.approx(
        means.var(axis=0, ddof=1).sum() / 16, rel=1e-3
    )


def test_pieces_stand_for_envs_where_there_are_few() -> None:
    engine, batch, g = batch_of(2, 32)
    found = measure_batch(engine, batch, Loss(normalise=False))
    assert not found.whole and (found.units, found.unit_steps) == (32, 2)
    assert "few envs (2)" in found.warnings[0]
    means = g.reshape(16, 2, 2, -1).mean(axis=1).reshape(32, -1)
    assert found.actor.variance.value == pytest.approx(
        means.var(axis=0, ddof=1).sum() / 32, rel=1e-3
    )


def test_a_batch_with_nothing_to_learn_says_so() -> None:
    engine, batch, _ = batch_of(8, 4)
    still = batch._replace(advantage=np.ones_like(batch.advantage))
    assert "nothing to learn" in measure_batch(engine, still, Loss()).warnings[0]
