"""Laws of clones: they obey the rollout's rules, and share with it the right randomness."""

import jax
import numpy as np
import pytest
from tests.collect import toys
from tests.gradients.rings import DISCOUNT, differ, ring, stage

from nbyt.collect import device
from nbyt.envs import tabular
from nbyt.gradients import clones
from nbyt.gradients.clones import Clones
from nbyt.policy.actor_critic import Stage

FUTURES = ("first", "second", "onward", "echo")
hurried = toys.hurried(clones.clones, static_argnames=("env", "policy", "steps"))
started = toys.hurried(device.start, static_argnames=("env", "envs"))


def cloned(env: tabular.TabularEnv, given: Stage, steps: int, some: slice = slice(0, 16)) -> Clones:
    """Clones of some of 16 envs that all begin an episode."""
    begun = started(env, 16, jax.random.key(0)), jax.random.split(jax.random.key(1), 16)
    runner, keys = jax.tree.map(lambda x: x[some], begun)
    return hurried(env, given.policy, given.params, runner, keys, DISCOUNT, steps=steps)


def by_hand(env: tabular.TabularEnv, given: Stage, first: np.ndarray, steps: int) -> np.ndarray:
    """Advantages [T, N] of a certain policy in a certain env until its first death or limit."""
    values = np.append(np.asarray(given.params.critic["values"], float), 0.0)
    chosen = np.asarray(given.params.actor["logits"]).argmax(axis=1)
    advantage = np.full((steps, len(first)), np.nan)
    for n, state in enumerate(first):
        deltas, path = [], int(state)
        for _ in range(min(steps, env.time_limit)):
            action = chosen[path]
            _, after, earned, death = (part[path, action, 0] for part in env.outcomes)
            reward = np.clip(earned / DISCOUNT.reward_scale, -10, 10)
            follows = 0.0 if death else values[after]
            deltas.append(reward + DISCOUNT.gamma * follows - values[path])
            path = after
            if death:
                break
        weight = (DISCOUNT.gamma * DISCOUNT.lam) ** np.arange(len(deltas))
        for t in range(len(deltas)):
            advantage[t, n] = np.dot(weight[: len(deltas) - t], deltas[t:])
    return advantage


@pytest.mark.parametrize("steps", [1, 5, 6])
def test_without_luck_every_future_is_the_rollout(steps) -> None:
    """Deaths, time limits, the rollout's end and the two halves of a lane all have to be right."""
    env, given = ring(slippery=False), stage(5, 2, certain=True)
    made = cloned(env, given, steps)
    for name in FUTURES:
        np.testing.assert_allclose(getattr(made, name), made.own, atol=1e-5, err_msg=name)
    expected = by_hand(env, given, np.asarray(made.observation[0]), steps)
    known = ~np.isnan(expected)
    assert known[0].all() and (steps == 1 or np.asarray(made.ended).any())
    np.testing.assert_allclose(np.asarray(made.own)[known], expected[known], atol=1e-5)


def test_a_certain_env_leaves_only_the_luck_of_actions() -> None:
    made = cloned(ring(slippery=False), stage(5, 2, certain=False), 6)
    np.testing.assert_allclose(made.echo, made.own, atol=1e-6)
    np.testing.assert_allclose(made.onward, made.first, atol=1e-6)
    assert differ(made.first, made.second) and differ(made.first, made.own)


def test_the_last_step_has_no_luck_but_the_answer() -> None:
    made = cloned(ring(slippery=True), stage(5, 2, certain=False), 6)
    np.testing.assert_allclose(made.onward[-1], made.own[-1], atol=1e-6)
    np.testing.assert_allclose(made.echo[-1], made.first[-1], atol=1e-6)
    for one, other in (("first", "second"), ("first", "own"), ("echo", "own"), ("onward", "own")):
        assert differ(getattr(made, one)[:-1], getattr(made, other)[:-1]), (one, other)


def test_rollouts_do_not_depend_on_the_block_they_are_in() -> None:
    env, given = ring(slippery=True), stage(5, 2, certain=False)
    whole, part = cloned(env, given, 6), cloned(env, given, 6, slice(4, 7))
    for name in Clones._fields:
        alike = getattr(whole, name)[:, 4:7]
        np.testing.assert_allclose(getattr(part, name), alike, atol=1e-5, err_msg=name)
