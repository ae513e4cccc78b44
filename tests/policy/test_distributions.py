"""Laws of action distributions, against scipy.stats, enumeration and drawn samples."""

from itertools import product

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from gymnasium import spaces
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats
from scipy.special import log_softmax

from nbyt.errors import EnvUsageError
from nbyt.policy.distributions import Categorical, Gaussian, MultiCategorical, head_for

DRAWS = 20_000
LOGITS = np.array([[0.3, -1.2, 2.0], [0.0, 0.0, 0.0], [5.0, -5.0, 1.0]], np.float32)
SIZES = (3, 2, 4)
MANY = np.random.default_rng(0).normal(size=(5, sum(SIZES))).astype(np.float32)
NORMAL = Gaussian((2,), (-1.0, -0.5), (1.0, 0.5))
SHAPES = np.array([[0.2, -1.0, -0.3, 0.4], [0.0, 3.0, 0.0, -2.0]], np.float32)  # means, log stds
EVERY = [(Categorical(3), LOGITS), (MultiCategorical(SIZES), MANY), (NORMAL, SHAPES)]
IDS = ["categorical", "multicategorical", "gaussian"]


def actions_of(sizes) -> np.ndarray:
    return np.array(list(product(*(range(size) for size in sizes))), np.int32)


def every_log_prob(parameters: np.ndarray) -> np.ndarray:
    """Log-probability of all 24 joint choices at each row of MANY, by the head."""
    actions = jnp.asarray(actions_of(SIZES))
    rows = jnp.repeat(jnp.asarray(parameters)[:, None], len(actions), axis=1)
    return np.asarray(
        MultiCategorical(SIZES).log_prob(rows, jnp.broadcast_to(actions, (5, *actions.shape)))
    )


@settings(max_examples=50)
@given(st.lists(st.floats(-40, 40, width=32), min_size=3, max_size=3))
def test_categorical_log_prob_is_scipys_log_softmax(logits) -> None:
    parameters = jnp.tile(jnp.array(logits, jnp.float32), (3, 1))
    found = Categorical(3).log_prob(parameters, jnp.arange(3))
    np.testing.assert_allclose(found, log_softmax(np.array(logits)), rtol=1e-5, atol=1e-5)
    assert float(jnp.exp(found).sum()) == pytest.approx(1, abs=1e-5)


def test_multicategorical_log_prob_is_the_sum_of_its_parts() -> None:
    found = every_log_prob(MANY)
    expected = np.zeros_like(found, dtype=float)
    for place, (size, end) in enumerate(zip(SIZES, np.cumsum(SIZES), strict=True)):
        parts = log_softmax(MANY[:, end - size : end].astype(float), axis=1)
        expected += parts[:, actions_of(SIZES)[:, place]]
    np.testing.assert_allclose(found, expected, rtol=1e-5, atol=1e-5)
    np.testing.assert_allclose(np.exp(found).sum(axis=1), 1, rtol=1e-5)


@settings(max_examples=50)
@given(
    st.lists(st.floats(-5, 5, width=32), min_size=4, max_size=4),
    st.lists(st.floats(-3, 3, width=32), min_size=2, max_size=2),
)
def test_gaussian_log_prob_is_scipys(shape, action) -> None:
    found = NORMAL.log_prob(jnp.array(shape, jnp.float32), jnp.array(action, jnp.float32))
    expected = stats.norm(shape[:2], np.exp(shape[2:])).logpdf(action).sum()
    np.testing.assert_allclose(found, expected, rtol=1e-4, atol=1e-4)


def test_entropies_are_those_of_enumeration_and_of_the_closed_form() -> None:
    chance = np.exp(log_softmax(LOGITS.astype(float), axis=1))
    found = Categorical(3).entropy(jnp.asarray(LOGITS))
    np.testing.assert_allclose(found, stats.entropy(chance, axis=1), rtol=1e-5)
    joint = every_log_prob(MANY)
    found = MultiCategorical(SIZES).entropy(jnp.asarray(MANY))
    np.testing.assert_allclose(found, -(np.exp(joint) * joint).sum(axis=1), rtol=1e-4)
    expected = stats.norm(0, np.exp(SHAPES[:, 2:].astype(float))).entropy().sum(axis=1)
    np.testing.assert_allclose(NORMAL.entropy(jnp.asarray(SHAPES)), expected, rtol=1e-5)


def drawn(head, parameters: np.ndarray) -> np.ndarray:
    """DRAWS actions at one row of parameters."""
    noise = head.noise(jax.random.key(1), (DRAWS,))
    return np.asarray(head.sample(jnp.tile(jnp.asarray(parameters), (DRAWS, 1)), noise))


@pytest.mark.parametrize("row", range(3))
def test_categorical_samples_have_their_probabilities(row) -> None:
    counts = np.bincount(drawn(Categorical(3), LOGITS[row]), minlength=3)
    chance = np.exp(log_softmax(LOGITS[row].astype(float)))
    error = np.sqrt(chance * (1 - chance) / DRAWS)
    assert (np.abs(counts / DRAWS - chance) <= 4 * error).all()


def test_multicategorical_samples_have_their_joint_probabilities() -> None:
    """All 24 joint choices, so that choices that were tied to each other would show."""
    found = drawn(MultiCategorical(SIZES), MANY[0])
    chance = np.exp(every_log_prob(MANY)[0].astype(float))
    counts = np.array([(found == action).all(axis=1).sum() for action in actions_of(SIZES)])
    assert counts.sum() == DRAWS
    assert (np.abs(counts / DRAWS - chance) <= 4 * np.sqrt(chance * (1 - chance) / DRAWS)).all()


@pytest.mark.parametrize("row", range(2))
def test_gaussian_samples_are_independent_normals(row) -> None:
    found = drawn(NORMAL, SHAPES[row])
    mean, spread = SHAPES[row, :2], np.exp(SHAPES[row, 2:])
    for axis in range(2):
        assert stats.kstest((found[:, axis] - mean[axis]) / spread[axis], "norm").pvalue > 1e-4
    assert abs(np.corrcoef(found.T)[0, 1]) < 4 / np.sqrt(DRAWS)


@pytest.mark.parametrize(("head", "parameters"), EVERY, ids=IDS)
def test_numpy_and_jax_sample_alike(head, parameters) -> None:
    noise = head.noise(jax.random.key(2), (50, len(parameters)))
    ours = head.sample(jnp.broadcast_to(parameters, (50, *parameters.shape)), noise)
    theirs = head.sample(np.broadcast_to(parameters, (50, *parameters.shape)), np.asarray(noise))
    assert isinstance(theirs, np.ndarray) and isinstance(ours, jax.Array)
    assert theirs.dtype == ours.dtype
    np.testing.assert_allclose(theirs, ours, rtol=1e-6, atol=1e-6)
    np.testing.assert_allclose(head.to_env(theirs), head.to_env(ours), rtol=1e-6, atol=1e-6)


@pytest.mark.parametrize("make", [np.array, jnp.array])
def test_only_the_environment_sees_a_clipped_action(make) -> None:
    action = make([[3.0, 0.1], [-0.2, -9.0]], dtype=np.float32)
    np.testing.assert_allclose(NORMAL.to_env(action), [[1.0, 0.1], [-0.2, -0.5]])
    far = NORMAL.sample(make([[50.0, -50.0, 0.0, 0.0]], dtype=np.float32), make([[0.5, 0.5]]))
    np.testing.assert_allclose(far, [[50.5, -49.5]])
    near, beyond = (jnp.array([[x, 0.0]]) for x in (1.0, 3.0))
    parameters = jnp.zeros((1, 4))
    fall = NORMAL.log_prob(parameters, near) - NORMAL.log_prob(parameters, beyond)
    np.testing.assert_allclose(fall, (3**2 - 1**2) / 2, rtol=1e-6)


def test_an_unbounded_action_is_not_changed_and_a_matrix_keeps_its_shape() -> None:
    free = Gaussian((2, 3), (-np.inf,) * 6, (np.inf,) * 6)
    action = np.random.default_rng(0).normal(size=(4, 5, 6)).astype(np.float32) * 1e6
    assert free.to_env(action).shape == (4, 5, 2, 3)
    np.testing.assert_array_equal(free.to_env(action).reshape(4, 5, 6), action)


@pytest.mark.parametrize(("head", "parameters"), EVERY, ids=IDS)
def test_the_score_has_mean_zero(head, parameters) -> None:
    """E[d log p / d parameter] = 0 for every parameter: within 4 standard errors."""
    actions = jnp.asarray(drawn(head, parameters[0]))
    one = jax.grad(lambda p, action: head.log_prob(p[None], action[None])[0])
    scores = jax.jit(jax.vmap(one, in_axes=(None, 0)))(jnp.asarray(parameters[0]), actions)
    scores = np.asarray(scores, float)
    assert (scores.std(axis=0) > 0.01).all()
    assert (np.abs(scores.mean(axis=0)) <= 4 * scores.std(axis=0) / np.sqrt(DRAWS)).all()


@pytest.mark.parametrize(
    ("space", "head"),
    [
        (spaces.Discrete(4), Categorical(4)),
        (spaces.MultiDiscrete([3, 2, 4]), MultiCategorical((3, 2, 4))),
        (spaces.Box(-2.0, 2.0, (1,)), Gaussian((1,), (-2.0,), (2.0,))),
    ],
)
def test_each_space_has_its_head_and_equal_heads_are_one_to_the_compiler(space, head) -> None:
    assert head_for(space) == head
    assert hash(head_for(space)) == hash(head)
    parameters = jnp.zeros((7, head.outputs * (2 if isinstance(head, Gaussian) else 1)))
    action = head.to_env(head.sample(parameters, head.noise(jax.random.key(0), (7,))))
    assert all(space.contains(row) for row in np.asarray(action).astype(space.dtype))


def test_other_spaces_are_refused() -> None:
    with pytest.raises(EnvUsageError, match="no policy for the action space"):
        head_for(spaces.MultiBinary(3))
