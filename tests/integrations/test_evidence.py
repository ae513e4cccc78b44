"""Laws of the evidence: ages are those of a loop over steps, and averages leave the start out."""

import numpy as np
import pytest

from nbyt.integrations.evidence import Ages, Evidence, ages_within, rollout_facts


def counted(starts: np.ndarray) -> np.ndarray:
    """The age of each env after every row: steps since the last start."""
    ages, now = [], np.zeros(starts.shape[1], int)
    for row in starts:
        now = np.where(row, 0, now) + 1
        ages.append(now)
    return np.array(ages)


@pytest.mark.parametrize("seed", range(5))
def test_ages_are_those_of_a_loop_over_the_steps(seed: int) -> None:
    rng = np.random.default_rng(seed)
    starts = rng.random((61, 7)) < 0.08
    starts[0] = True
    oracle, ages, at = counted(starts), Ages(), 0
    for steps in (1, 20, 7, 32):
        rows, ended = starts[at : at + steps], starts[at + steps]
        found = ages.after(rows, ended)
        at += steps
        np.testing.assert_array_equal(found, np.where(ended, 0, oracle[at - 1]))


def test_facts_of_a_rollout_are_the_shares_that_they_say() -> None:
    rng = np.random.default_rng(0)
    returns = rng.normal(3, 2, (50, 40))
    noise = rng.normal(0, 1, (50, 40))
    found = rollout_facts(np.zeros(40, int), 3, returns + noise, returns)
    assert found.explained == pytest.approx(1 - noise.var() / returns.var())
    assert (found.value, found.target) == pytest.approx(((returns + noise).mean(), returns.mean()))
    assert found.deviation == pytest.approx(returns.std())
    assert rollout_facts(np.zeros(1, int), 0, noise, np.ones((50, 40))).explained is None


def test_the_beginning_is_left_out_and_too_little_is_nothing() -> None:
    facts = [rollout_facts(np.full(2, k), 0, np.zeros((2, 2)), np.eye(2)) for k in range(10)]
    evidence = Evidence(2, 2, rollouts=facts)
    assert [int(one.ages[0]) for one in evidence.late] == [5, 6, 7, 8, 9]
    assert Evidence(2, 2, rollouts=facts[:6]).late == []
    assert Evidence(2, 2).late_records == []


def test_ages_within_a_rollout_are_known_where_an_episode_ended() -> None:
    ends = np.zeros((10, 4), bool)
    ends[[2, 5], 0] = ends[9, 1] = ends[5, 2] = True
    found = ages_within(ends)
    assert found[:3].tolist() == [4, 0, 4]
    assert found[3] >= 10
    ends[:, :2] = False
    assert set(ages_within(ends)) == {-1}
