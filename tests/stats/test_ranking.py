"""Laws of ranking layouts: scores, ties, win shares and regret; and of comparing two of them."""

import math

import numpy as np
import pytest
from gradient_vectors import Vectors, jackknife, noisier, random_vectors, rho
from hypothesis import given, settings
from hypothesis import strategies as st

from nbyt.stats import Candidate, compare, rank
from nbyt.stats.intervals import ratio_set, redrawn, student
from nbyt.stats.ranking import NO_LENGTH, NOWHERE, relative, scores, win_shares


def test_ranking_orders_by_noise_and_names_the_ties() -> None:
    v = random_vectors(64, 2, 4, 6, seed=5, signal=1.0)
    layouts = [noisier(v, 4.0), v, noisier(v, 0.01)]
    found = rank([Candidate(w.products(), 4) for w in layouts], np.random.default_rng(0), 300)
    assert found.order[-1] == 0 and set(found.order[:2]) == {1, 2}
    assert set(found.ties) == {1, 2} - {found.order[0]}
    assert sum(found.win_share) == pytest.approx(1) and found.win_share[0] == 0
    best = found.order[0]
    assert found.regret[best].value == 0
    for place, regret in enumerate(found.regret):
        expected = 1 - (found.rho[place].value / found.rho[best].value) ** 2
        assert regret.value == pytest.approx(expected)
        assert 0 <= regret.low <= regret.value <= regret.high or place == best
    assert found.regret[0].low > 0.1 and all(regret.approximate for regret in found.regret)


def test_redrawn_scores_are_those_of_the_redrawn_vectors() -> None:
    v = random_vectors(7, 2, 3, 4, seed=6, signal=2.0)
    samples = redrawn(7, 10, np.random.default_rng(2))
    found = scores([Candidate(v.products(), 5)], samples)[:, 0]
    for draw in range(10):
        chains = np.repeat(np.arange(7), samples.chains[draw].astype(int))
        pairs = [(a, b) for a in chains for b in chains if a != b]
        x = np.mean([v.means[a] @ v.references[b] for a, b in pairs])
        u = np.mean([v.means[a] @ v.means[b] for a, b in pairs])
        square = np.mean([(v.fragments[a] ** 2).sum(-1).mean() for a in chains])
        z = u + (square - u) / 5
        assert found[draw] == pytest.approx(x * abs(x) / z)


def test_a_layout_without_a_length_cannot_win_and_says_why() -> None:
    v = random_vectors(64, 2, 2, 6, seed=8, signal=1.0)
    for seed in range(50):
        lost = random_vectors(64, 1, 1, 2, seed, signal=0.0)
        lost = Vectors(lost.contributions, v.references[:, :2], v.blocks)
        candidate = Candidate(lost.products(), 10**9)
        found = rank([candidate, Candidate(v.products(), 8)], np.random.default_rng(0), 100)
        if found.rho[0].value is None:
            assert found.rho[0].reason == found.regret[0].reason == NO_LENGTH
            assert found.order == (1, 0) and found.ties == (0,)
            return
    pytest.fail("no seed gave a squared length below 0")


def test_where_every_layout_points_away_there_is_no_regret() -> None:
    v = random_vectors(64, 2, 2, 6, seed=8, signal=3.0)
    away = Vectors(v.contributions, -v.references, v.blocks)
    found = rank([Candidate(away.products(), 8)] * 2, np.random.default_rng(0), 50)
    assert all(regret.reason == NOWHERE for regret in found.regret)
    assert all(rho.high < 0 for rho in found.rho)


def test_relative_scores_and_win_shares_by_hand() -> None:
    table = np.array([[1.0, 2.0, np.nan], [3.0, -1.0, 1.0], [-2.0, -1.0, -3.0]])
    expected = [[0.5, 1, np.nan], [1, -1 / 3, 1 / 3], [np.nan] * 3]
    np.testing.assert_allclose(relative(table), expected)
    np.testing.assert_allclose(win_shares(table), [1 / 3, 2 / 3, 0])


def test_a_draw_without_any_score_is_won_by_no_layout() -> None:
    nothing = [math.nan, math.nan]
    np.testing.assert_allclose(win_shares(np.array([[1.0, 2.0], nothing, nothing])), [0, 1 / 3])
    np.testing.assert_allclose(win_shares(np.array([nothing])), [0, 0])


@settings(max_examples=15)
@given(st.integers(0, 10**6), st.integers(1, 64))
def test_differences_and_ratios_are_those_of_the_vectors(seed, envs) -> None:
    first = random_vectors(8, 2, 2, 4, seed, signal=2.0)
    second = noisier(first, 1.0)
    found = compare(Candidate(first.products(), envs), Candidate(second.products(), 3))
    one, two = jackknife(first, lambda v: rho(v, envs)), jackknife(second, lambda v: rho(v, 3))
    assert found.difference.value == pytest.approx(one[0] - two[0])
    assert (found.difference.low, found.difference.high) == pytest.approx(student(one - two, 8))
    assert found.ratio.value == pytest.approx(one[0] / two[0])
    pieces = ratio_set(one, two, 8)
    if len(pieces) == 1:
        assert (found.ratio.low, found.ratio.high) == pytest.approx(pieces[0], rel=1e-5)


def test_pairing_tells_apart_what_separate_chains_could_not() -> None:
    v = random_vectors(64, 2, 4, 6, seed=1, signal=0.6)
    worse = noisier(v, 0.5)
    here = Candidate(v.products(), 8)
    paired = compare(here, Candidate(worse.products(), 8))
    others = list(range(64))[::-1]
    apart = compare(here, Candidate(worse.taking(others).products(), 8))
    width = paired.difference.high - paired.difference.low
    assert width < 0.7 * (apart.difference.high - apart.difference.low)


def test_a_layout_is_a_tie_with_itself_and_no_number_of_chains_would_settle_it() -> None:
    candidate = Candidate(random_vectors(64, 2, 2, 6, seed=3).products(), 8)
    found = compare(candidate, candidate)
    assert not found.told_apart and found.chains_needed is None
    assert found.ratio.value == 1 and found.difference.value == 0


def test_the_chains_needed_are_those_at_which_the_error_is_the_difference() -> None:
    v = random_vectors(64, 2, 4, 6, seed=1, signal=0.3)
    found = compare(Candidate(v.products(), 8), Candidate(noisier(v, 0.2).products(), 8))
    half = (found.difference.high - found.difference.low) / 2
    expected = 64 * (half / found.difference.value) ** 2
    assert found.chains_needed == math.ceil(expected)
    assert found.told_apart == (found.chains_needed <= 64)


def test_a_weak_second_layout_leaves_the_ratio_unbounded_with_a_reason() -> None:
    v = random_vectors(64, 2, 2, 6, seed=3, signal=2.0)
    noise = Vectors(v.contributions - v.contributions.mean((0, 1, 2)), v.references, v.blocks)
    found = compare(Candidate(v.products(), 8), Candidate(noise.products(), 8)).ratio
    assert math.isinf(found.low) and math.isinf(found.high)
    assert found.as_dict()["low"] is None and "not clearly different" in found.as_dict()["reason"]


def test_candidates_of_different_chains_are_refused() -> None:
    few, many = (random_vectors(n, 2, 2, 3, seed=0).products() for n in (5, 6))
    with pytest.raises(ValueError, match="not the same chains"):
        compare(Candidate(few, 2), Candidate(many, 2))


def test_ties_are_told_apart_in_one_of_twenty() -> None:
    generator, apart = np.random.default_rng(4), 0
    for _ in range(120):
        v = random_vectors(64, 1, 2, 8, int(generator.integers(10**6)), signal=1.0)
        first, second = (noisier(v, 0.5, int(s)) for s in generator.integers(10**6, size=2))
        candidates = [Candidate(w.products(), 8) for w in (first, second)]
        apart += compare(*candidates).told_apart
    assert 1 <= apart <= 17
