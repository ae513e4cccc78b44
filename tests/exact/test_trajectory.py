"""P(tau | pi): sums to 1, agrees with rollouts, and knows where an episode ends."""

from itertools import product

import jax
import numpy as np
import pytest
from problems import going_on, probabilities, random_problem, two_rewards_problem
from scipy import stats

from nbyt import exact
from nbyt.collect.device import collect, start
from nbyt.errors import UsageError


def every_sequence(env, steps):
    """All sequences of so many steps, possible or not: the second implementation."""
    states, actions, _ = env.outcomes.state.shape
    s = np.array(list(product(range(states), repeat=steps + 1)))
    a = np.array(list(product(range(actions), repeat=steps))).reshape(-1, steps)
    return np.repeat(s, len(a), axis=0), np.tile(a, (len(s), 1))


@pytest.mark.parametrize("time_limit", [None, 2])
@pytest.mark.parametrize("steps", [1, 2, 3, 4])
@pytest.mark.parametrize("problem", [random_problem, two_rewards_problem])
def test_it_sums_to_one_over_all_sequences(problem, steps, time_limit) -> None:
    env, stage = problem(3, 3, 2, time_limit=time_limit)
    total = 0.0
    for made in range(1, steps + 1):
        some = every_sequence(env, made)
        total += exact.trajectory_probability(env, stage, *some, ended=made < steps).sum()
    assert total == pytest.approx(1, abs=1e-12)


@pytest.mark.parametrize(
    ("control", "steps"), [(exact.sticky(), 5), (exact.garnet(4, 2, 1), 4), (exact.frozenlake(), 4)]
)
def test_it_sums_to_one_over_the_possible_ones(control, steps) -> None:
    some = list(exact.possible_trajectories(control.env, steps))
    sums = [exact.trajectory_probability(control.env, control.stage, *one).sum() for one in some]
    assert sum(sums) == pytest.approx(1, abs=1e-9)
    assert [one.actions.shape[1] for one in some] == list(range(1, steps + 1))


@pytest.mark.parametrize("time_limit", [None, 2])
def test_a_step_that_may_or_may_not_end_is_counted_both_ways(time_limit) -> None:
    env, stage = two_rewards_problem(3, 3, 2, time_limit=time_limit)
    some = list(exact.possible_trajectories(env, 3))
    whole = {(*s, *a) for one in some for s, a in zip(one.states, one.actions, strict=True)}
    assert len(whole) == sum(len(one.states) for one in some)  # two rewards are no two ways
    sums = [exact.trajectory_probability(env, stage, *one) for one in some]
    assert all((one > 0).all() for one in sums)
    assert np.concatenate(sums).sum() == pytest.approx(1, abs=1e-12)
    first = some[0]
    either = exact.trajectory_probability(env, stage, first.states, first.actions)
    assert (either >= sums[0]).all() and (either > sums[0] + 1e-3).any()


def test_the_possible_ones_are_all_that_have_a_probability() -> None:
    env, stage = random_problem(5, 3, 2, ends=0.4)
    *shorter, whole = exact.possible_trajectories(env, 3)
    states, actions = every_sequence(env, 3)
    probable = exact.trajectory_probability(env, stage, states, actions) > 0
    assert {(*s, *a) for s, a in zip(states[probable], actions[probable], strict=True)} == {
        (*s, *a) for s, a in zip(whole.states, whole.actions, strict=True)
    }
    for one in shorter:
        place = one.states[:, -2], one.actions[:, -1], one.states[:, -1]
        assert one.ended.all() and not going_on(env)[place].any()


def test_one_trajectory_by_hand() -> None:
    env, stage = random_problem(0, 3, 2, ends=0.0)
    policy = probabilities(stage)
    by_hand = env.start[2] * policy[2, 1] * env.transition[2, 1, 0]
    by_hand *= policy[0, 0] * env.transition[0, 0, 1]
    found = exact.trajectory_probability(env, stage, [2, 0, 1], [1, 0])
    assert found == pytest.approx(by_hand, rel=1e-12)
    log = exact.trajectory_log_probability(env, stage, [2, 0, 1], [1, 0])
    assert log == pytest.approx(np.log(by_hand), rel=1e-12)


def test_nothing_comes_after_an_end() -> None:
    env, stage = random_problem(0, 2, 2, ends=1.0, time_limit=1)
    assert exact.trajectory_probability(env, stage, [0, 1], [0]) > 0
    assert exact.trajectory_probability(env, stage, [0, 1, 0], [0, 0]) == 0


def test_it_agrees_with_how_often_rollouts_go_that_way() -> None:
    env, stage = random_problem(7, 3, 2, ends=0.0)
    envs, steps = 20_000, 2
    runner = start(env, envs, jax.random.key(0))
    gather = jax.jit(lambda params, r, k: collect(env, stage.policy, params, r, k, steps + 1))
    _, rollout, _ = gather(stage.params, runner, jax.random.key(1))
    states = np.asarray(rollout.observation).T
    actions = np.asarray(rollout.action).T[:, :steps]
    (whole,) = (one for one in exact.possible_trajectories(env, steps) if len(one.states))
    expected = envs * exact.trajectory_probability(env, stage, *whole)
    codes = np.column_stack([whole.states, whole.actions]) @ 3 ** np.arange(2 * steps + 1)
    seen = np.column_stack([states, actions]) @ 3 ** np.arange(2 * steps + 1)
    counts = np.array([(seen == code).sum() for code in codes])
    assert counts.sum() == envs
    enough = expected >= 5
    chi_square = ((counts - expected)[enough] ** 2 / expected[enough]).sum()
    assert 1e-4 < stats.chi2.sf(chi_square, enough.sum() - 1) < 1 - 1e-4


@pytest.mark.parametrize(
    ("states", "actions", "words"),
    [([0, 1], [0, 1], "shape"), ([0, 9], [0], "from 0 to 1"), ([0, 1.5], [0], "whole numbers")],
)
def test_what_is_no_trajectory_is_refused(states, actions, words) -> None:
    env, stage = random_problem(0, 2, 2)
    with pytest.raises(UsageError, match=words):
        exact.trajectory_probability(env, stage, states, actions)


def test_every_trajectory_has_its_own_end_or_all_have_one() -> None:
    env, stage = random_problem(0, 2, 2)
    with pytest.raises(UsageError, match="ended has shape"):
        exact.trajectory_probability(env, stage, [[0, 1], [1, 0]], [[0], [1]], [True, True, False])


@pytest.mark.parametrize("time_limit", [None, 3])
def test_it_is_what_walking_on_and_on_leads_to(time_limit) -> None:
    env, stage = random_problem(2, 4, 2, time_limit=time_limit, ends=0.3)
    policy, limit = probabilities(stage), time_limit or 1
    law = np.zeros((limit, 4))
    law[0], going = env.start, going_on(env)
    total = np.zeros(4)
    for step in range(4000):
        stays = np.einsum("ks,sa,sat->kt", law, policy, going)
        law = np.zeros_like(law)
        if time_limit:
            law[1:] = stays[:-1]
        else:
            law[0] = stays[0]
        law[0] += (1 - law.sum()) * env.start
        total += law.sum(axis=0) if step >= 1000 else 0
    np.testing.assert_allclose(exact.visits(env, stage), total / 3000, atol=1e-3)
    assert exact.visits(env, stage).sum() == pytest.approx(1, abs=1e-12)
