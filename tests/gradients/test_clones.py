"""Laws of clones: they obey the rollout's rules, and share with it the right randomness."""

from functools import cache

import gymnasium
import jax
import jax.numpy as jnp
import numpy as np
import pytest
from tests.collect import toys

from nbyt.collect import device
from nbyt.envs import gymnasium_suite, tabular
from nbyt.envs.lookup import resolve
from nbyt.gradients import clones
from nbyt.gradients.clones import ClonePlan, Clones, Discount
from nbyt.gradients.host_clones import host_clones, why_not
from nbyt.policy.stage import Stage, table

FUTURES = ("first", "second", "onward", "echo")
DISCOUNT = Discount(0.9, 0.8, 0.5)
hurried = toys.hurried(clones.clones, static_argnames=("env", "policy", "steps"))
started = toys.hurried(device.start, static_argnames=("env", "envs"))


@cache
def ring(*, slippery: bool) -> tabular.TabularEnv:
    """Five states in a ring; 4 to 0 is a death for action 1, and the 4th step is the last."""
    generator = np.random.default_rng(0)
    transition = np.zeros((5, 2, 5))
    for s in range(5):
        for a in range(2):
            transition[s, a, (s + a + 1) % 5] = 1.0
    if slippery:
        transition = 0.6 * transition + 0.08
    terminated = np.zeros((5, 2, 5), bool)
    terminated[4, 1] = True
    reward = generator.normal(size=transition.shape)
    return tabular.from_arrays(transition, reward, terminated, np.full(5, 0.2), time_limit=4)


def stage(states: int, actions: int, *, certain: bool) -> Stage:
    """A table policy; a certain one always takes the same action in a state."""
    generator = np.random.default_rng(1)
    logits = generator.normal(size=(states, actions)) * (1e4 if certain else 1.0)
    return table(logits, generator.normal(size=states))


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
    assert _differ(made.first, made.second) and _differ(made.first, made.own)


def test_the_last_step_has_no_luck_but_the_answer() -> None:
    made = cloned(ring(slippery=True), stage(5, 2, certain=False), 6)
    np.testing.assert_allclose(made.onward[-1], made.own[-1], atol=1e-6)
    np.testing.assert_allclose(made.echo[-1], made.first[-1], atol=1e-6)
    for one, other in (("first", "second"), ("first", "own"), ("echo", "own"), ("onward", "own")):
        assert _differ(getattr(made, one)[:-1], getattr(made, other)[:-1]), (one, other)


def _differ(one: jax.Array, other: jax.Array) -> bool:
    return bool((jnp.abs(one - other) > 1e-3).mean() > 0.1)


def test_rollouts_do_not_depend_on_the_block_they_are_in() -> None:
    env, given = ring(slippery=True), stage(5, 2, certain=False)
    whole, part = cloned(env, given, 6), cloned(env, given, 6, slice(4, 7))
    for name in Clones._fields:
        alike = getattr(whole, name)[:, 4:7]
        np.testing.assert_allclose(getattr(part, name), alike, atol=1e-5, err_msg=name)


def lake(*, slippery: bool) -> gymnasium_suite.GymnasiumEnv:
    """FrozenLake with a short time limit, on the host."""
    return gymnasium_suite.from_factory(
        "tests:lake",
        lambda: gymnasium.make("FrozenLake-v1", is_slippery=slippery, max_episode_steps=7),
    )


@pytest.mark.parametrize("certain", [True, False])
def test_host_clones_share_what_they_should(certain) -> None:
    given = stage(16, 4, certain=certain)
    plan = ClonePlan(2, 8, 5, DISCOUNT, 0)
    made = list(host_clones(lake(slippery=False), given.policy, given.params, plan))
    assert len(made) == 2 and made[0].own.shape == (5, 8)
    for block in made:
        assert block.ended.any()
        np.testing.assert_allclose(block.echo, block.own, atol=1e-6)
        np.testing.assert_allclose(block.onward, block.first, atol=1e-6)
        assert _differ(block.first, block.second) != certain
    if certain:
        np.testing.assert_allclose(made[0].first, made[0].own, atol=1e-6)


def test_host_clones_draw_new_answers() -> None:
    given = stage(16, 4, certain=True)
    plan = ClonePlan(1, 24, 4, DISCOUNT, 0)
    (made,) = host_clones(lake(slippery=True), given.policy, given.params, plan)
    np.testing.assert_allclose(made.onward[-1], made.own[-1], atol=1e-6)
    np.testing.assert_allclose(made.echo[-1], made.first[-1], atol=1e-6)
    for one, other in (("first", "second"), ("first", "own"), ("echo", "own"), ("onward", "own")):
        assert _differ(getattr(made, one)[:-1], getattr(made, other)[:-1]), (one, other)
    # An answer of three is often the rollout's own: then the same randomness gives the same future.
    alike = [jnp.mean(jnp.abs(x - made.own)[:-1] < 1e-6) for x in (made.echo, made.first)]
    assert alike[0] > alike[1] + 0.15, alike


def test_an_env_that_cannot_be_copied_says_why() -> None:
    hidden = gymnasium_suite.from_factory("tests:coin", toys.Coin)
    assert "'tests:coin' cannot be copied" in (why_not(hidden) or "")
    assert why_not(ring(slippery=True)) is None
    assert why_not(resolve("gym:CartPole-v1")) is None
