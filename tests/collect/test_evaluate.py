"""Laws of evaluation: first episodes only, so long ones count; the unfinished are told."""

import jax
import numpy as np
import pytest
import toys
from scipy import stats

from nbyt.collect import evaluate
from nbyt.envs import gymnasium_suite, tabular
from nbyt.rng import seeds


def returns_of(env, runs: int) -> np.ndarray:
    policy, params = toys.actor_critic(env)
    found = [evaluate.episode_returns(env, policy, params, seed) for seed in range(runs)]
    assert all(one.unfinished == 0 and one.spoiled == 0 for one in found)
    return np.concatenate([one.returns for one in found])


@pytest.mark.parametrize(
    ("env", "chance", "runs"),
    [
        (toys.coin(0.1), 0.1, 16),
        (gymnasium_suite.GymnasiumEnv("toys:Coin", toys.Coin), 0.2, 30),
    ],
    ids=["device", "host"],
)
def test_returns_have_the_law_of_whole_episodes(env, chance, runs) -> None:
    """A return is the episode's length, which is geometric: mean within 4 standard errors."""
    found = returns_of(env, runs)
    law = stats.geom(chance)
    error = law.std() / np.sqrt(len(found))
    assert abs(found.mean() - law.mean()) <= 4 * error
    edges = law.ppf([0.25, 0.5, 0.75, 0.9])
    cells = np.searchsorted(edges, found, side="left")
    chances = np.diff(np.concatenate([[0], law.cdf(edges), [1]]))
    counts = np.bincount(cells, minlength=5)
    assert stats.chisquare(counts, chances * len(found)).pvalue > 1e-4
    # The episodes that end first would have a mean far below: the test could see them.
    hasty = np.sort(found)[: len(found) // 2].mean()
    assert abs(hasty - law.mean()) > 4 * error


def test_evaluation_depends_on_its_seed_alone() -> None:
    env = toys.coin(0.1)
    policy, params = toys.actor_critic(env)
    one, same, other = (evaluate.episode_returns(env, policy, params, s) for s in (1, 1, 2))
    np.testing.assert_array_equal(one.returns, same.returns)
    assert not np.array_equal(one.returns, other.returns)


def test_a_time_limit_ends_an_episode() -> None:
    env = toys.coin(0.0, limit=13)
    policy, params = toys.actor_critic(env)
    found = evaluate.episode_returns(env, policy, params, 0)
    assert (found.returns == 13).all() and found.unfinished == 0


def test_unfinished_episodes_are_counted_on_the_device() -> None:
    """One start ends at once, the other never."""
    stay = np.eye(2)[:, None, :]
    ends = np.zeros((2, 1, 2), bool)
    ends[1] = True
    env = tabular.from_arrays(stay, np.ones((2, 1, 2)), ends, [0.5, 0.5])
    policy, params = toys.actor_critic(env)
    found = evaluate.episode_returns(env, policy, params, 0)
    assert 0 < found.unfinished < len(found.returns)
    assert (found.returns == evaluate.LONGEST).sum() == found.unfinished
    assert (found.returns == 1).sum() == len(found.returns) - found.unfinished


def test_unfinished_episodes_are_counted_on_the_host(monkeypatch) -> None:
    monkeypatch.setattr(evaluate, "LONGEST", 150)
    env = gymnasium_suite.GymnasiumEnv("toys:Fork", toys.Fork)
    policy, params = toys.actor_critic(env)
    found = evaluate.episode_returns(env, policy, params, 3)
    odd = np.array(seeds(3, "evaluate", len(found.returns))) % 2 == 1
    assert 0 < odd.sum() < len(odd)
    assert found.unfinished == odd.sum()
    np.testing.assert_array_equal(found.returns, np.where(odd, 150, 1))


def test_filler_rows_do_not_reach_a_return() -> None:
    """EnvPool's CartPole pays 1 a step; an episode that went on past its end would pay more."""
    pytest.importorskip("envpool")
    from nbyt.envs import envpool_suite

    env = envpool_suite.find("CartPole-v1")
    policy, params = toys.actor_critic(env)
    found = evaluate.episode_returns(env, policy, params, 0)
    key = evaluate.stream(jax.random.key(0), "evaluate")
    assert found.unfinished == 0
    np.testing.assert_array_equal(found.returns, lengths(env, policy, params, key, 0))


def lengths(env, policy, params, key, seed) -> np.ndarray:
    """Steps up to each env's first end, by a loop written out."""
    envs = 20
    running = env.start(envs)
    observation = running.reset(seeds(seed, "evaluate", envs))
    first = np.zeros(envs, int)
    for time in range(evaluate.LONGEST):
        if time % 128 == 0:
            chunk = evaluate.stream(key, "chunk", time // 128)
            actor = evaluate.HostActor(policy, params, chunk, 128, envs)
        step = running.step(actor.act(observation, time % 128)[1])
        ended = (step.terminated | step.truncated) & (first == 0)
        first[ended] = time + 1
        observation = step.observation
        if first.all():
            break
    running.close()
    return first
