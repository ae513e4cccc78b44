"""Stationary laws and values of states solve their linear equations, or are refused."""

import numpy as np
import pytest
from problems import (
    action_values,
    cycle,
    double_stage,
    endless,
    iterated_values,
    probabilities,
    random_problem,
    values_of,
)
from scipy import sparse

from nbyt import exact
from nbyt.envs import tabular
from nbyt.errors import UsageError
from nbyt.exact.values import optimal_values, stationary


def test_the_stationary_law_of_a_periodic_chain() -> None:
    env, stage = cycle(5)
    found = exact.moments(env, stage, steps=5, gamma=0.9, lam=0.8).critic
    lacking = iterated_values(env, probabilities(stage), 0.9) - values_of(stage)
    np.testing.assert_allclose(found.reference, lacking / 5, rtol=1e-12)


def test_the_stationary_law_is_the_null_vector() -> None:
    generator = np.random.default_rng(8)
    for size in (1, 2, 7):
        moves = generator.dirichlet(np.ones(size), size)
        moves = np.block(
            [[moves, np.zeros((size, 2))], [np.full((2, size), 1 / size), np.zeros((2, 2))]]
        )
        law = stationary(sparse.csr_array(moves))
        system = np.vstack([moves.T - np.eye(size + 2), np.ones(size + 2)])
        expected = np.linalg.lstsq(system, np.append(np.zeros(size + 2), 1.0))[0]
        np.testing.assert_allclose(law, expected, atol=1e-13)
        np.testing.assert_allclose(law[size:], 0, atol=1e-15)


def test_the_best_values_satisfy_bellmans_equation() -> None:
    env, _ = random_problem(6, 8, 3)
    found = optimal_values(env, 0.95)
    action = action_values(env, found.state, 0.95)
    np.testing.assert_allclose(found.action, action, atol=1e-12)
    np.testing.assert_allclose(found.state, action.max(axis=1), atol=1e-12)


ENV, STAGE = random_problem(0, 3, 2)


@pytest.mark.parametrize(
    "ask",
    [
        lambda: exact.moments(*endless(), steps=2, gamma=1.0, lam=0.9),
        lambda: exact.long_run(*endless(), gamma=1.0, lam=1.0),
    ],
)
def test_a_value_that_is_endless_is_refused(ask) -> None:
    with pytest.raises(UsageError, match="endless sum") as error:
        ask()
    assert "gamma < 1" in error.value.fix


def test_gamma_1_is_fine_where_episodes_end() -> None:
    found = exact.moments(ENV, STAGE, steps=3, gamma=1.0, lam=1.0)
    assert ENV.outcomes.terminated.any() and np.isfinite(found.total.variance)


def test_two_separate_worlds_have_no_stationary_law() -> None:
    stay = np.eye(2)[:, None]
    env = tabular.from_arrays(stay, stay, stay > 2, [0.5, 0.5])
    with pytest.raises(UsageError, match="2 separate sets of states"):
        exact.moments(env, double_stage(np.zeros((2, 1)), np.zeros(2)), steps=2, gamma=0.9, lam=0.9)
