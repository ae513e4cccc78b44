"""Laws of the host collector: the device's rows, filler rows that never count, set phases."""

import corridor
import corridor_device
import jax
import jax.numpy as jnp
import numpy as np
import pytest
import toys
from gymnasium.wrappers import TimeLimit

from nbyt.collect import device, host
from nbyt.collect.host import HostActor
from nbyt.collect.rollout import Rollout, gae
from nbyt.envs import gymnasium_suite

STEPS, ENVS = 40, 3
collected = toys.hurried(device.collect, static_argnames=("env", "policy", "steps"))
started = toys.hurried(device.start, static_argnames=("env", "envs"))
digested = toys.hurried(host.rollout, static_argnames=("policy",))
advantages = toys.hurried(gae)
HOST = gymnasium_suite.GymnasiumEnv("corridor:make", corridor.make)


class Generous:
    """Running envs that pay a fortune in every filler row; all else passes through."""

    def __init__(self, running) -> None:
        self._running, self.envs = running, running.envs
        self.fillers = 0

    def __getattr__(self, name):
        return getattr(self._running, name)

    def reset(self, seeds):
        return self._running.reset(seeds)

    def restart(self, mask, observation):
        return self._running.restart(mask, observation)

    def close(self):
        self._running.close()

    def step(self, action):
        step = self._running.step(action)
        self.fillers += int((~step.valid).sum())
        return step._replace(reward=np.where(step.valid, step.reward, 1e6))


def policy_and_params(network: str):
    env = corridor_device.tables()
    return toys.actor_critic(env, network)


@pytest.mark.parametrize("network", ["table", "8"])
def test_host_and_device_give_the_same_rollouts(network) -> None:
    """Same corridor, same policy, same keys: two rollouts in a row, field by field."""
    policy, params = policy_and_params(network)
    env = corridor_device.tables()
    runner = started(env, ENVS, jax.random.key(0))
    running = host.HostRunner(HOST.start(ENVS), [0] * ENVS)
    both = []
    for update in range(2):
        key = jax.random.key(10 + update)
        runner, theirs, episodes = collected(env, policy, params, runner, key, steps=STEPS)
        record, counted = running.go(HostActor(policy, params, key, STEPS, ENVS), STEPS)
        ours = digested(policy, params, record)
        both.append(bool((ours.truncated | ours.terminated).any()))
        for field in Rollout._fields:
            a, b = getattr(ours, field), getattr(theirs, field)
            assert (a.shape, a.dtype) == (b.shape, b.dtype), field
            np.testing.assert_allclose(a, b, rtol=1e-5, atol=1e-5, err_msg=field)
        np.testing.assert_allclose(counted, episodes, rtol=1e-5)
    running.close()
    assert all(both)


def test_a_death_in_the_step_of_the_limit_is_a_death() -> None:
    """Three steps to the right enter the last cell, at a limit of 3: Gymnasium reports both."""

    def at_the_limit():
        return TimeLimit(corridor.Corridor(), 3)

    policy, params = always(1)
    env = gymnasium_suite.GymnasiumEnv("corridor:three", at_the_limit)
    running = host.HostRunner(env.start(1), [0])
    record, _ = running.go(HostActor(policy, params, jax.random.key(0), 3, 1), 3)
    made = digested(policy, params, record)
    assert made.terminated[:, 0].tolist() == [False, False, True]
    assert not made.truncated.any() and not made.final_value.any()


def valid_rows(rollout: Rollout, gamma_lam=(0.9, 0.8)) -> list[list[tuple]]:
    """What each env experienced, with the advantage of every step."""
    advantage = np.asarray(advantages(rollout, *gamma_lam))
    fields = [np.asarray(x) for x in (rollout.observation, rollout.action, rollout.reward)]
    fields += [np.asarray(rollout.final_value), advantage]
    valid = np.asarray(rollout.valid)
    rows = range(valid.shape[0])
    return [
        [tuple(float(f[t, n]) for f in fields) for t in rows if valid[t, n]]
        for n in range(valid.shape[1])
    ]


def always(action: int):
    """A policy that always takes that action, with values that tell the cells apart."""
    policy, params = policy_and_params("table")
    logits = np.full((5, 2), -50, np.float32)
    logits[:, action] = 50
    return policy, params._replace(actor={"logits": jnp.asarray(logits)})


@pytest.mark.parametrize("action", [0, 1], ids=["limits", "deaths"])
def test_filler_rows_are_marked_and_never_count(action) -> None:
    """The same episodes with and without filler rows, whose rewards here are a fortune."""
    policy, params = always(action)
    made = {}
    for autoreset, steps in (("same", 21), ("next", 24 if action == 0 else 28)):
        running = Generous(HOST.start(2, autoreset=autoreset))
        runner = host.HostRunner(running, [0, 0])
        record, episodes = runner.go(HostActor(policy, params, jax.random.key(0), steps, 2), steps)
        made[autoreset] = digested(policy, params, record), episodes
        assert running.fillers == (~np.asarray(record.valid)).sum()
        runner.close()
    (same, whole), (next_value, counted) = made["same"], made["next"]
    assert same.valid.all() and (~next_value.valid).sum() == 2 * (3 if action == 0 else 7)
    assert (np.asarray(next_value.reward)[~np.asarray(next_value.valid)] == 1e6).all()
    np.testing.assert_allclose(valid_rows(next_value), valid_rows(same), rtol=1e-5)
    np.testing.assert_allclose(counted, whole, rtol=1e-5)


def test_envpools_fillers_are_marked_and_never_count() -> None:
    pytest.importorskip("envpool")
    from nbyt.envs import envpool_suite

    found = envpool_suite.find("CartPole-v1")
    policy, params = toys.actor_critic(found)
    running = Generous(found.start(4))
    runner = host.HostRunner(running, [1, 2, 3, 4])
    record, episodes = runner.go(HostActor(policy, params, jax.random.key(0), 150, 4), 150)
    runner.close()
    ended = record.terminated | record.truncated
    np.testing.assert_array_equal(~record.valid[1:], ended[:-1])
    assert running.fillers > 4
    # CartPole pays 1 a step, so that the returns of finished episodes are their lengths.
    assert episodes.returns == episodes.lengths and episodes.episodes == ended.sum()
    made = digested(policy, params, record)
    assert np.abs(advantages(made, 0.99, 0.95)).max() < 1e3


@pytest.mark.parametrize("autoreset", ["same", "next"])
@pytest.mark.parametrize(
    "counts", [[0, 3, 7, 7, 1], [0, 0, 0, 0, 0], [2, 2, 2, 2, 2], [9, 0, 8, 0, 1]]
)
def test_wandering_lets_each_env_go_its_own_number_of_steps(counts, autoreset) -> None:
    """The clock shows how many steps each env has gone since its reset."""
    env = gymnasium_suite.GymnasiumEnv("toys:Clock", toys.Clock)
    policy, params = toys.actor_critic(env)
    runner = host.HostRunner(env.start(5, autoreset=autoreset), list(range(5)))
    runner.wander(HostActor(policy, params, jax.random.key(0), 9, 5), np.array(counts))
    assert runner.observation[:, 0].tolist() == counts
    record, _ = runner.go(HostActor(policy, params, jax.random.key(1), 2, 5), 2)
    assert record.observation[1, :, 0].tolist() == [count + 1 for count in counts]
    runner.close()


def test_episodes_after_wandering_count_from_their_own_start() -> None:
    """Corridors that only meet their limit of 7: each first finished episode has 7 steps."""
    policy, params = always(0)
    runner = host.HostRunner(HOST.start(4), [0] * 4)
    runner.wander(HostActor(policy, params, jax.random.key(0), 6, 4), np.array([0, 2, 5, 6]))
    record, episodes = runner.go(HostActor(policy, params, jax.random.key(1), 7, 4), 7)
    runner.close()
    first = np.argmax(record.truncated, axis=0) + 1
    assert first.tolist() == [7, 5, 2, 1]
    assert (float(episodes.episodes), float(episodes.lengths)) == (4, 28)


def test_few_envs_in_numpy_and_many_compiled_act_alike() -> None:
    """4 envs act in NumPy, 65 in a compiled program: the first 4 do the same."""
    policy, params = toys.actor_critic(corridor_device.tables())
    few, many = (HostActor(policy, params, jax.random.key(0), 5, n) for n in (4, 65))
    observation = np.random.default_rng(0).integers(0, 5, 65).astype(np.int32)
    for time in range(5):
        ours, theirs = few.act(observation[:4], time), many.act(observation, time)
        np.testing.assert_array_equal(ours[0], theirs[0][:4])
        np.testing.assert_array_equal(ours[1], theirs[1][:4])
