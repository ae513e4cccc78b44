"""DQN's loss against a calculation by hand."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from gymnasium.spaces import Discrete

from nbyt.objective.dqn import Rates, Transitions, dqn_loss
from nbyt.policy.networks import Network
from nbyt.policy.q_policy import build_q

POLICY = build_q(Discrete(3), Discrete(2), Network("table"))
WEIGHTS = {"logits": jnp.array([[1.0, 2.0], [0.5, -1.0], [3.0, 4.0]])}
RATES = Rates(*(jnp.float32(x) for x in (0.9, 1.0, 1.0, 0.0)))
TARGET = {"logits": jnp.array([[10.0, 20.0], [7.0, 5.0], [2.0, 1.0]])}


def rows(**changes: list) -> Transitions:
    values = {
        "observation": [0, 0, 1],
        "action": [1, 0, 1],
        "reward": [1.0, 0.0, 0.5],
        "terminated": [False, False, True],
        "next_observation": [1, 2, 0],
        "valid": [True, True, True],
    }
    return Transitions(**{name: jnp.array(x) for name, x in (values | changes).items()})


@pytest.mark.parametrize("double", [False, True])
def test_the_loss_is_the_mean_huber_of_the_td_errors(double: bool) -> None:
    # Without double the next value is the target's best; with it, the target's for our best.
    following = [7.0, 1.0 if double else 2.0, 0.0]
    goals = np.array([1.0, 0.0, 0.5]) + 0.9 * np.array(following)
    errors = np.array([2.0, 1.0, -1.0]) - goals
    huber = np.where(np.abs(errors) <= 1, errors**2 / 2, np.abs(errors) - 0.5)
    loss, seen = dqn_loss(POLICY, WEIGHTS, TARGET, rows(), RATES, double=double)
    assert np.allclose([loss, seen.td_error], [huber.mean(), np.abs(errors).mean()], rtol=1e-6)
    assert np.isclose(seen.mean_q, np.mean([2.0, 1.0, -1.0]))
    squared = RATES._replace(huber=jnp.float32(100.0))
    loss, _ = dqn_loss(POLICY, WEIGHTS, TARGET, rows(), squared, double=double)
    assert np.isclose(loss, (errors**2 / 2).mean())


def test_rows_that_are_no_experience_do_not_count() -> None:
    masked = rows(valid=[True, False, True])
    kept = jax.tree.map(lambda x: x[jnp.array([0, 2])], rows())
    for double in (False, True):
        some, _ = dqn_loss(POLICY, WEIGHTS, TARGET, masked, RATES, double=double)
        others, _ = dqn_loss(POLICY, WEIGHTS, TARGET, kept, RATES, double=double)
        assert np.isclose(some, others)


def test_no_gradient_reaches_the_goal() -> None:
    """Only the Q-value that was taken moves, also where the same weights choose the next action."""

    def loss(weights: dict) -> jax.Array:
        own = {"observation": [0], "next_observation": [0], "action": [1], "reward": [0.1]}
        one = rows(**own, terminated=[False], valid=[True])
        return dqn_loss(POLICY, weights, weights, one, RATES, double=True)[0]

    gradient = np.asarray(jax.grad(loss)(WEIGHTS)["logits"])
    assert np.allclose(gradient[0], [0.0, 2.0 - 0.1 - 0.9 * 2.0])
    assert not gradient[1:].any()
