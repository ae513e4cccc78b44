"""Laws of the classic tasks: they step as gymnax's bit for bit, and as Gymnasium's own."""

import gymnasium
import jax
import jax.numpy as jnp
import numpy as np
import pytest
from gymnasium.spaces import Discrete
from tests.training.small_runs import plan, run

from nbyt.envs import classic, gymnax_suite
from nbyt.envs.check import check
from nbyt.envs.protocol import DeviceEnv

ENVS, STEPS = 32, 400
GYMNAX_IGNORES_THE_WALL = "MountainCarContinuous-v0"


def action(env: DeviceEnv, key: jax.Array, time: jax.Array) -> jax.Array:
    """Push for a while in one direction, then in another, so that walls and goals are met."""
    which = jax.random.fold_in(key, time // 25)
    if isinstance(env.action_space, Discrete):
        return jax.random.randint(which, (), 0, env.action_space.n)
    high = 1.5 * float(env.action_space.high[0])
    return jax.random.uniform(which, (1,), minval=-high, maxval=high)


def walk(env: DeviceEnv):
    """Observations, actions and ends of a few envs, which go on after an episode's end."""

    def one(carried, time):
        key, state = carried
        asked = action(env, key, time)
        made = env.step(key, state, asked)
        return (key, made.state), (asked, made.observation, made.reward, made.terminated, made[4])

    def whole(key):
        state, first = env.reset(key)
        return first, jax.lax.scan(one, (key, state), jnp.arange(STEPS))[1]

    keys = jax.random.split(jax.random.key(0), ENVS)
    first, (asked, seen, *ends) = jax.jit(jax.vmap(whole))(keys)
    return np.concatenate([first[:, None], seen], 1), np.asarray(asked), *map(np.asarray, ends)


@pytest.mark.parametrize("name", classic.names())
def test_gymnax_has_the_same_spaces_and_steps_alike_bit_for_bit(name) -> None:
    own, theirs = classic.find(name), gymnax_suite.find(name)
    assert own.observation_space == theirs.observation_space
    assert (own.action_space, own.time_limit) == (theirs.action_space, theirs.time_limit)
    (seen, _, reward, terminated, truncated), other = walk(own), walk(theirs)
    # gymnax pays nothing after an end; what comes after the wall is its own.
    same = np.logical_or.accumulate(terminated, axis=1)
    same = ~np.pad(same, ((0, 0), (1, 0)))
    if name == GYMNAX_IGNORES_THE_WALL:
        same &= ~np.logical_or.accumulate(seen[:, :, 0] <= np.float32(-1.2), axis=1)
        assert 0.2 < same.mean() < 1.0
    np.testing.assert_array_equal(seen[same], other[0][same])
    for mine, its in zip((reward, terminated, truncated), other[2:], strict=True):
        np.testing.assert_array_equal(mine[same[:, 1:]], its[same[:, 1:]])


# The simulator's state from what is observed.
STATES = {
    "CartPole-v1": lambda seen: seen,
    "Acrobot-v1": lambda seen: [np.arctan2(*seen[1::-1]), np.arctan2(*seen[3:1:-1]), *seen[4:]],
    "Pendulum-v1": lambda seen: [np.arctan2(seen[1], seen[0]), seen[2]],
    "MountainCar-v0": lambda seen: seen,
    "MountainCarContinuous-v0": lambda seen: seen,
}


@pytest.mark.parametrize("name", classic.names())
def test_every_step_is_gymnasiums_step_from_the_same_state(name) -> None:
    seen, asked, reward, terminated, _ = walk(classic.find(name))
    theirs = gymnasium.make(name).unwrapped
    ended = checked = 0
    for env in range(ENVS // 4):
        for step in range(STEPS):
            theirs.reset(seed=0)
            theirs.state = np.array(STATES[name](seen[env, step].astype(float)))
            observation, paid, end, _, _ = theirs.step(asked[env, step])
            np.testing.assert_allclose(seen[env, step + 1], observation, rtol=1e-4, atol=2e-4)
            np.testing.assert_allclose(reward[env, step], paid, rtol=1e-4, atol=2e-4)
            assert terminated[env, step] == end
            ended, checked = ended + end, checked + 1
            if end:
                break
    assert checked > 200 or ended > 5


@pytest.mark.parametrize("name", classic.names())
def test_it_is_truncated_at_its_time_limit_and_only_there(name) -> None:
    env = classic.find(name)
    assert gymnasium.spec(name).max_episode_steps == env.time_limit
    state, _ = env.reset(jax.random.key(1))
    zero = jnp.zeros_like(action(env, jax.random.key(0), jnp.int32(0)))
    for left, cut in ((1, True), (2, False)):
        made = env.step(None, state._replace(time=jnp.int32(env.time_limit - left)), zero)
        assert bool(made.truncated) is cut and not made.terminated


def test_a_death_in_the_last_step_is_a_death() -> None:
    env = classic.find("CartPole-v1")
    state, _ = env.reset(jax.random.key(0))
    off = state._replace(values=(jnp.float32(100.0), *state.values[1:]), time=jnp.int32(499))
    made = env.step(None, off, jnp.int32(0))
    assert made.terminated and not made.truncated


def test_a_training_of_the_same_seed_ends_with_the_same_weights_under_either_id(tmp_path) -> None:
    weights = []
    for suite in ("classic", "gymnax"):
        run(plan(f"{suite}:CartPole-v1"), tmp_path / suite)
        stages = sorted((tmp_path / suite).glob("stage-*/stage.safetensors"))
        weights.append([stage.read_bytes() for stage in stages])
    assert weights[0] and weights[0] == weights[1]


def test_an_unknown_name_is_none_and_a_known_one_is_one_object() -> None:
    assert classic.find("Nope-v0") is None
    assert classic.find("CartPole-v1") is classic.find("CartPole-v1")


def test_check_env_takes_it_for_what_it_is_and_finds_no_fault() -> None:
    report = check(classic.find("CartPole-v1"), steps=20, speeds=())
    assert report.kind == "device" and not report.faults
