"""Laws of the device collector: the same rows as by hand, and no env depends on the others."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest
import toys
from scipy import stats

from nbyt.collect import device
from nbyt.collect.rollout import Rollout
from nbyt.envs import gymnax_suite, tabular
from nbyt.rng import stream

STEPS, ENVS = 14, 3
collected = toys.hurried(device.collect, static_argnames=("env", "policy", "steps"))
started = toys.hurried(device.start, static_argnames=("env", "envs"))
staggered = toys.hurried(device.stagger, static_argnames=("env", "policy"))


def settings(name: str):
    """An env with its policy: discrete with deaths and limits, continuous with clipped actions."""
    if name == "tables":
        env = toys.random_tables()
        return env, *toys.actor_critic(env)
    env = gymnax_suite.find("Pendulum-v1")
    return env, *toys.actor_critic(env)


def by_hand(env, policy, params, key, first) -> dict[str, np.ndarray]:
    """The rollout, one env and one step at a time, every key found by its name."""
    act = toys.hurried(lambda o, noise: policy.head.sample(policy.parameters(params, o), noise))
    value = toys.hurried(lambda o: policy.value(params, o))
    log_prob = toys.hurried(lambda o, a: policy.head.log_prob(policy.parameters(params, o), a))
    step, reset = toys.hurried(env.step), toys.hurried(env.reset)
    names = ("observation", "action", "log_prob", "value", "reward", "terminated", "truncated")
    rows = {name: [] for name in (*names, "final_value")}
    last = []
    for n in range(ENVS):
        state, observation = jax.tree.map(lambda x, n=n: x[n], first)
        noise = policy.head.noise(stream(key, "act", n), (STEPS,))
        step_keys = jax.random.split(stream(key, "env.step", n), STEPS)
        reset_keys = jax.random.split(stream(key, "env.reset", n), STEPS)
        for t in range(STEPS):
            action = act(observation, noise[t])
            made = step(step_keys[t], state, policy.head.to_env(action))
            row = (observation, action, log_prob(observation, action), value(observation))
            row += (made.reward, made.terminated, made.truncated)
            row += (value(made.observation) if made.truncated else 0.0,)
            for name, number in zip(rows, row, strict=True):
                rows[name].append(np.asarray(number))
            state, observation = made.state, made.observation
            if made.terminated or made.truncated:
                state, observation = reset(reset_keys[t])
        last.append(np.asarray(value(observation)))
    turned = {k: np.stack(v).reshape(ENVS, STEPS, *v[0].shape) for k, v in rows.items()}
    return {k: np.swapaxes(v, 0, 1) for k, v in turned.items()} | {"last_value": np.stack(last)}


@pytest.mark.parametrize("name", ["tables", "pendulum"])
def test_a_rollout_is_its_replay_by_hand(name) -> None:
    env, policy, params = settings(name)
    runner = started(env, ENVS, jax.random.key(0))
    if name == "pendulum":  # close to its limit of 200 steps, so that the rollout crosses it
        time = jnp.array([190, 195, 150], jnp.int32)
        runner = runner._replace(state=runner.state.replace(time=time))
    key = jax.random.key(1)
    _, found, _ = collected(env, policy, params, runner, key, steps=STEPS)
    expected = by_hand(env, policy, params, key, (runner.state, runner.observation))
    assert found.truncated.any() and found.valid.all()
    assert found.terminated.any() == (name == "tables")
    for field, array in expected.items():
        np.testing.assert_allclose(
            getattr(found, field), array, rtol=1e-4, atol=1e-4, err_msg=field
        )
    assert (np.asarray(found.final_value)[~np.asarray(found.truncated)] == 0).all()
    assert (np.asarray(found.final_value)[np.asarray(found.truncated)] != 0).all()


def test_starts_are_found_by_name() -> None:
    env = toys.random_tables()
    runner = started(env, 8, jax.random.key(5))
    expected = [int(env.reset(stream(jax.random.key(5), "env.start", n))[1]) for n in range(8)]
    assert runner.observation.tolist() == expected
    assert not runner.episode_return.any() and not runner.episode_length.any()


def test_episodes_are_those_of_the_rows() -> None:
    env, policy, params = settings("tables")
    runner = started(env, ENVS, jax.random.key(0))
    total = np.zeros(3)
    returns, lengths = np.zeros(ENVS), np.zeros(ENVS)
    expected = np.zeros(3)
    for update in range(3):  # episodes reach over the ends of rollouts
        runner, made, episodes = collected(
            env, policy, params, runner, jax.random.key(update), steps=STEPS
        )
        total += [float(x) for x in episodes]
        for t in range(STEPS):
            returns, lengths = returns + made.reward[t], lengths + 1
            ended = np.asarray(made.terminated[t] | made.truncated[t])
            expected += [ended.sum(), returns[ended].sum(), lengths[ended].sum()]
            returns, lengths = np.where(ended, 0, returns), np.where(ended, 0, lengths)
    np.testing.assert_allclose(total, expected, rtol=1e-4)
    np.testing.assert_allclose(runner.episode_return, returns, rtol=1e-4, atol=1e-5)
    np.testing.assert_array_equal(runner.episode_length, lengths)


@pytest.mark.parametrize("name", ["tables", "pendulum"])
def test_the_rows_of_an_env_do_not_depend_on_how_many_there_are(name) -> None:
    env, policy, params = settings(name)
    made = []
    for envs in (4, 8):
        runner = started(env, envs, jax.random.key(2))
        runner = staggered(env, policy, params, runner, jax.random.key(3))
        made.append(collected(env, policy, params, runner, jax.random.key(4), steps=STEPS)[1])
    for field in Rollout._fields:
        few, many = (np.asarray(getattr(rollout, field)) for rollout in made)
        many = many[:4] if field == "last_value" else many[:, :4]
        np.testing.assert_allclose(few, many, rtol=1e-4, atol=1e-4, err_msg=field)


def test_staggered_envs_stand_at_uniform_phases_of_an_episode() -> None:
    """Episodes of exactly 20 steps, so that a phase is uniform on 0 to 19: chi-square."""
    env = toys.coin(0.0, limit=20)
    policy, params = toys.actor_critic(env)
    runner = started(env, 1000, jax.random.key(0))
    moved = staggered(env, policy, params, runner, jax.random.key(0))
    phases = np.asarray(moved.episode_length).astype(int)
    counts = np.bincount(phases, minlength=20)
    assert len(counts) == 20 and stats.chisquare(counts).pvalue > 1e-4
    np.testing.assert_array_equal(moved.state.time, phases)
    np.testing.assert_array_equal(moved.episode_return, phases)


def test_staggering_plays_by_the_rules() -> None:
    """With deaths, the time of a staggered env has the law of a walk of a uniform length.

    After k steps of a chain that starts anew with chance q, the time since the start is j < k with
    probability q (1 - q)^j and k with (1 - q)^k; k is uniform on 0 to 29.
    """
    env, q, limit, envs = toys.coin(0.1, limit=30), 0.1, 30, 2000
    policy, params = toys.actor_critic(env)
    runner = started(env, envs, jax.random.key(0))
    moved = staggered(env, policy, params, runner, jax.random.key(1))
    law = np.zeros(limit)
    for k in range(limit):
        law[:k] += q * (1 - q) ** np.arange(k) / limit
        law[k] += (1 - q) ** k / limit
    counts = np.bincount(np.asarray(moved.episode_length).astype(int), minlength=limit)
    merged = [np.append(x[:15], x[15:].sum()) for x in (counts, law * envs)]
    assert stats.chisquare(*merged, sum_check=False).pvalue > 1e-4


def test_many_envs_get_the_same_values_row_by_row() -> None:
    """From 1,024 envs on values are computed in rows: the numbers stay those of the critic."""
    env, policy, params = settings("tables")
    runner = started(env, 1024, jax.random.key(0))
    _, made, _ = collected(env, policy, params, runner, jax.random.key(1), steps=3)
    values = policy.value(params, made.observation)
    np.testing.assert_allclose(made.value, values, rtol=1e-5, atol=1e-5)


def test_without_a_time_limit_there_is_no_final_value() -> None:
    env = toys.random_tables(limit=None)
    policy, params = toys.actor_critic(env)
    assert isinstance(env, tabular.TabularEnv) and env.time_limit is None
    runner = started(env, ENVS, jax.random.key(0))
    _, made, _ = collected(env, policy, params, runner, jax.random.key(1), steps=STEPS)
    assert made.terminated.any() and not made.truncated.any() and not made.final_value.any()
