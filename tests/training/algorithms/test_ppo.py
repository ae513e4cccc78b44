"""The update: what it may depend on, and what it must equal."""

from dataclasses import replace

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from tests.training.ppo_runs import LAYOUT, started

from nbyt.collect.evaluate import episode_returns
from nbyt.envs import resolve
from nbyt.layout import Layout
from nbyt.minibatch import shuffle_and_chop
from nbyt.policy.files import to_tensors
from nbyt.rng import numpy_stream, stream
from nbyt.training import sources
from nbyt.training.algorithms import ppo
from nbyt.training.plan import PPOSettings


def after(settings: PPOSettings, updates: int = 3, layout: Layout = LAYOUT):
    """The learner and the numbers after some updates."""
    algorithm = started(settings, updates, layout)
    made = list(algorithm.updates(1))
    return algorithm.learner, made[-1].numbers


def weights(learner: ppo.Learner) -> dict[str, np.ndarray]:
    return to_tensors(learner.params)


def assert_close(
    one: dict[str, np.ndarray], other: dict[str, np.ndarray], tolerance: float
) -> None:
    assert one.keys() == other.keys()
    for name in one:
        np.testing.assert_allclose(one[name], other[name], rtol=tolerance, atol=tolerance)


def test_parts_side_by_side_equal_one_program() -> None:
    """Without clipping, training the two networks apart is training them together."""
    apart = PPOSettings(max_grad_norm=1e9, entropy_coefficient=0.01)
    together = replace(apart, clip_jointly=True)
    assert apart.parts == ("actor", "critic")
    assert together.parts == ("both",)
    assert_close(weights(after(apart)[0]), weights(after(together)[0]), 1e-5)


def test_one_update_equals_the_obvious_one() -> None:
    """An update is: for each mini-batch in order, clip the gradient, one Adam step. Written out."""
    settings = PPOSettings(network="16", learning_rate=1e-2, clip_jointly=True, max_grad_norm=0.3)
    algorithm = started(settings)
    policy, learner = algorithm.policy, algorithm.learner
    gathered = algorithm.source.gather(learner, stream(jax.random.key(7), "update", 1))
    indices = shuffle_and_chop(LAYOUT, numpy_stream(7, "minibatch.shuffle", 1))
    coefficients = ppo.coefficients_of(settings)
    done, _ = ppo.learn(
        policy, settings, learner, gathered, indices, coefficients, jnp.float32(1e-2)
    )

    def loss(trained, rows):
        params = learner.params._replace(**trained)
        batch = jax.tree.map(lambda x: x[rows], gathered.batch)
        advantage = (batch.advantage - batch.advantage.mean()) / (batch.advantage.std() + 1e-8)
        logits = policy.parameters(params, batch.observation)
        log_prob = jax.nn.log_softmax(logits)[jnp.arange(len(rows)), batch.action]
        ratio = jnp.exp(log_prob - batch.log_prob)
        gain = jnp.minimum(ratio * advantage, jnp.clip(ratio, 0.8, 1.2) * advantage)
        error = (policy.value(params, batch.observation) - batch.target) ** 2
        return -gain.mean() + 0.5 * 0.5 * error.mean()

    trained = ppo.trained(learner.params, "both")
    first = jax.tree.map(jnp.zeros_like, trained)
    second = first
    for step, rows in enumerate(indices, start=1):
        gradient = jax.grad(loss)(trained, rows)
        norm = jnp.sqrt(sum(jnp.sum(g**2) for g in jax.tree.leaves(gradient)))
        gradient = jax.tree.map(lambda g, n=norm: g * jnp.minimum(1, 0.3 / n), gradient)
        first = jax.tree.map(lambda m, g: 0.9 * m + 0.1 * g, first, gradient)
        second = jax.tree.map(lambda v, g: 0.999 * v + 0.001 * g**2, second, gradient)
        trained = jax.tree.map(
            lambda w, m, v, k=step: (
                w - 1e-2 * (m / (1 - 0.9**k)) / (jnp.sqrt(v / (1 - 0.999**k)) + 1e-5)
            ),
            trained,
            first,
            second,
        )
    expected = weights(learner._replace(params=learner.params._replace(**trained)))
    assert_close(weights(done), expected, 2e-4)


def test_learner_is_compiled_once_for_a_batch_and_collector_once_for_a_split() -> None:
    settings = PPOSettings(network="8", gamma=0.97)
    before = ppo.improve._cache_size(), sources.device_experience._cache_size()
    for envs, steps in ((4, 16), (8, 8), (16, 4), (4, 16)):
        layout = Layout(envs, steps, 16, 1)
        after(settings, 2, layout)
    learners = ppo.improve._cache_size() - before[0]
    collectors = sources.device_experience._cache_size() - before[1]
    assert learners == len(settings.parts)
    assert collectors == 3


def test_other_numbers_compile_nothing() -> None:
    """Learning rate, discount and coefficients are arguments of the programs, not part of them."""
    settings = PPOSettings(network="8", value_clip=0.2)
    after(settings, 1)
    before = ppo.improve._cache_size(), sources.device_experience._cache_size()
    other = replace(
        settings,
        gamma=0.9,
        lam=0.5,
        clip=0.1,
        value_clip=0.4,
        learning_rate=1e-2,
        entropy_coefficient=0.3,
        anneal=True,
    )
    one, two = after(settings, 1)[0], after(other, 1)[0]
    assert (ppo.improve._cache_size(), sources.device_experience._cache_size()) == before
    assert not np.array_equal(weights(one)["actor/head/w"], weights(two)["actor/head/w"])


def test_starting_in_the_middle_meets_the_same_numbers() -> None:
    settings = PPOSettings(anneal=True, normalise_observations=True, normalise_rewards=True)
    whole, _ = after(settings, 4)
    algorithm = started(settings, 4)
    for update in algorithm.updates(1):
        if update.number == 2:
            break
    for _ in algorithm.updates(3):
        pass
    for name, array in weights(whole).items():
        assert np.array_equal(array, weights(algorithm.learner)[name]), name


def test_target_kl_stops_an_update() -> None:
    """A policy that may hardly move makes fewer steps than one that may."""
    free = PPOSettings(learning_rate=0.05, clip_jointly=True)
    tight = replace(free, target_kl=1e-4)
    moved, still = after(free, 1)[0], after(tight, 1)[0]
    begun = started(free).learner

    def distance(learner: ppo.Learner) -> float:
        pairs = zip(weights(begun).values(), weights(learner).values(), strict=True)
        return float(sum(np.abs(a - b).sum() for a, b in pairs))

    assert 0 < distance(still) < 0.5 * distance(moved)


def test_annealing_reaches_zero_at_the_end() -> None:
    settings = PPOSettings(anneal=True, learning_rate=1.0, network="4")
    made = started(settings, 4).updates(1)
    rates = [float(update.numbers["learning_rate"]) for update in made]
    np.testing.assert_allclose(rates, [1.0, 0.75, 0.5, 0.25])


@pytest.mark.learns
def test_it_learns() -> None:
    """CartPole from 20 to well over 100 in 30,000 steps; of 32 seeds the worst reached 460."""
    settings = PPOSettings(learning_rate=1e-3)
    layout = Layout(envs=8, steps=128, minibatch=128, epochs=8)
    algorithm = started(settings, 30, layout)
    before = mean_return(algorithm)
    for _ in algorithm.updates(1):
        pass
    assert before < 50 and mean_return(algorithm) > 100


def mean_return(algorithm: ppo.PPOAlgorithm) -> float:
    """Play whole episodes."""
    env = resolve("gymnax:CartPole-v1")
    return float(np.mean(episode_returns(env, algorithm.policy, algorithm.params, seed=1).returns))
