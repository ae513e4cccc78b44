"""One next state with two rewards or two ends, against the same problem written with tables.

Every state gets a second copy, and an outcome leads to the copy that goes with its reward. Then a
next state has one reward, and [S, A, S] tables say all. The copies share their parameters.
"""

from functools import cache

import numpy as np
import pytest
from problems import (
    MODES,
    PARTS,
    double_stage,
    probabilities,
    random_problem,
    two_rewards_problem,
    values_of,
)

from nbyt import exact
from nbyt.envs import tabular
from nbyt.exact.values import optimal_values, policy_values

STATES, ACTIONS = 4, 2
ASKED = {"gamma": 0.95, "lam": 0.9, "value_coefficient": 0.7, "entropy_coefficient": 0.1}
BOTH = np.arange(2 * STATES) // 2  # the state that each copy is one of


@cache
def problem(time_limit):
    """The env, its stage, and the same with two copies of each state."""
    env, stage = two_rewards_problem(11, STATES, ACTIONS, time_limit=time_limit)
    shape = (2 * STATES, ACTIONS, 2 * STATES)
    transition, reward, terminated = np.zeros(shape), np.zeros(shape), np.zeros(shape, bool)
    for s, a in np.ndindex(2 * STATES, ACTIONS):
        used = np.zeros(STATES, int)
        for p, after, gain, ends in zip(*(x[BOTH[s], a] for x in env.outcomes), strict=True):
            there = 2 * after + used[after]
            used[after] += 1
            transition[s, a, there], reward[s, a, there], terminated[s, a, there] = p, gain, ends
        assert (used == 2).all()
    split = tabular.from_arrays(
        transition, reward, terminated, env.start[BOTH] / 2, time_limit=time_limit
    )
    copied = double_stage(stage.params.actor["logits"][BOTH], values_of(stage)[BOTH])
    return env, stage, split, copied


@cache
def shared(time_limit) -> exact.Features:
    """The scores of the copies by the parameters of the state that they are copies of."""
    policy = probabilities(problem(time_limit)[1])
    own = np.eye(ACTIONS)[None] - policy[:, None]
    scores = np.einsum("st,sab->satb", np.eye(STATES), own).reshape(STATES, ACTIONS, -1)
    return exact.Features(scores[BOTH], np.eye(STATES)[BOTH])


def asked_of_both(question, time_limit, **options):
    """The answers of actor, critic and total: of the env, and of its split form."""
    env, stage, split, copied = problem(time_limit)
    mine = question(env, stage, **ASKED, **options)
    theirs = question(split, copied, features=shared(time_limit), **ASKED, **options)
    return [(getattr(mine, part), getattr(theirs, part)) for part in PARTS]


def assert_same(mine, theirs) -> None:
    """Every number of an answer, and of the answers in it."""
    names = vars(mine) if hasattr(mine, "__dict__") else mine._fields
    for name in names:
        one, other = getattr(mine, name), getattr(theirs, name)
        if name == "bias":
            assert_same(one, other)
        elif one is not None:
            np.testing.assert_allclose(one, other, rtol=1e-9, atol=1e-12, err_msg=name)


@pytest.mark.parametrize("mode", MODES, ids=str)
@pytest.mark.parametrize("time_limit", [None, 3])
@pytest.mark.parametrize("question", [exact.moments, exact.sources])
def test_moments_and_sources_are_those_of_the_split_states(question, time_limit, mode) -> None:
    for mine, theirs in asked_of_both(question, time_limit, steps=6, **mode):
        assert_same(mine, theirs)
        assert mine.variance == pytest.approx(theirs.variance, rel=1e-9)


@pytest.mark.parametrize("time_limit", [None, 3])
def test_individual_and_covariance_are_those_of_the_split_states(time_limit) -> None:
    for mine, theirs in asked_of_both(exact.moments, time_limit, steps=6):
        assert mine.individual == pytest.approx(theirs.individual, rel=1e-9)
        assert mine.covariance == pytest.approx(theirs.covariance, rel=1e-9, abs=1e-12)
        np.testing.assert_allclose(mine.mean, theirs.mean, rtol=1e-9, atol=1e-12)


@pytest.mark.parametrize("time_limit", [None, 3])
def test_lags_phases_and_the_long_run_are_those_of_the_split_states(time_limit) -> None:
    for mine, theirs in asked_of_both(exact.lags, time_limit, steps=6, count=4):
        np.testing.assert_allclose(mine.covariance, theirs.covariance, rtol=1e-9, atol=1e-12)
    for mine, theirs in asked_of_both(exact.phase, time_limit, steps=2, updates=4, start="reset"):
        np.testing.assert_allclose(mine.means, theirs.means, rtol=1e-9, atol=1e-12)
    for mine, theirs in asked_of_both(exact.long_run, time_limit):
        assert_same(mine, theirs)


@pytest.mark.parametrize("time_limit", [None, 3])
def test_values_and_visits_are_those_of_the_split_states(time_limit) -> None:
    env, stage, split, copied = problem(time_limit)
    policy = probabilities(stage)
    for mine, theirs in [
        (policy_values(env, policy, 0.95), policy_values(split, policy[BOTH], 0.95)),
        (optimal_values(env, 0.95), optimal_values(split, 0.95)),
    ]:
        np.testing.assert_allclose(mine.state[BOTH], theirs.state, rtol=1e-9)
        np.testing.assert_allclose(mine.action[BOTH], theirs.action, rtol=1e-9)
    visits = np.bincount(BOTH, exact.visits(split, copied))
    np.testing.assert_allclose(exact.visits(env, stage), visits, rtol=1e-9)


def test_the_mean_reward_alone_is_another_problem() -> None:
    """With each next state's mean reward, values stay and the variance does not."""
    env, stage, _, _ = problem(None)
    made = env.outcomes
    chance = made.by_state(made.probability)
    mean = made.by_state(made.probability * made.reward) / chance
    paid = np.take_along_axis(mean, made.state, axis=2)
    blurred = tabular.TabularEnv(env.id, made._replace(reward=paid), env.start)
    values = [policy_values(e, probabilities(stage), 0.95).state for e in (env, blurred)]
    np.testing.assert_allclose(*values, rtol=1e-9)
    found = [exact.moments(e, stage, steps=6, **ASKED).critic.variance for e in (env, blurred)]
    assert found[0] > 1.05 * found[1]


def test_a_limit_that_no_episode_reaches_changes_nothing() -> None:
    """Three states in a row; every episode ends after three steps at most."""
    transition, terminated = np.zeros((3, 2, 3)), np.zeros((3, 2, 3), bool)
    transition[0, 0, 1] = transition[1, :, 2] = transition[2, :, 0] = 1
    transition[0, 1] = [0, 0.5, 0.5]
    terminated[2] = True
    reward = np.random.default_rng(0).normal(size=(3, 2, 3))
    _, stage = random_problem(0, 3, 2)
    start = [0.6, 0.4, 0.0]
    for extra in ({"start": "reset"}, {"autoreset": "next-step"}, {}):
        free, limited = (
            exact.moments(
                tabular.from_arrays(transition, reward, terminated, start, time_limit=limit),
                stage,
                steps=7,
                gamma=0.9,
                lam=0.8,
                **extra,
            ).total
            for limit in (None, 4)
        )
        np.testing.assert_allclose(limited.mean, free.mean, rtol=1e-12, atol=1e-15)
        np.testing.assert_allclose(limited.reference, free.reference, rtol=1e-12, atol=1e-15)
        assert limited.variance == pytest.approx(free.variance, rel=1e-12)
