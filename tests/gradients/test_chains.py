"""Law: units of chains tell the same as the chains themselves."""

import numpy as np
import pytest

from nbyt.collect.pool import Pool, collect_pool
from nbyt.collect.segment import PoolPlan
from nbyt.exact import garnet
from nbyt.gradients.chains import Units, products_of
from nbyt.gradients.engines.own import StageEngine
from nbyt.gradients.reduce import PoolSums, reduce_pool
from nbyt.gradients.spec import GradientSpec, plan_for
from nbyt.stats.intervals import leave_one_out
from nbyt.stats.products import moments_of, step_variance

CHAINS, AT_ONCE = 96, 24
SPEC = GradientSpec((4, 32), (0.95,), 64, 0.9, normalise=False)


@pytest.fixture(scope="module")
def rounds() -> list[PoolSums]:
    """The harvest of all chains, and after it those of its four quarters."""
    control = garnet(6, 2, 0)
    policy, params = control.stage.policy, control.stage.params
    pool = collect_pool(control.env, policy, params, PoolPlan(CHAINS, 64, 0, 0.9, 0))
    engine = StageEngine(policy, params)
    plan = plan_for(engine.footprint(SPEC), CHAINS, SPEC, 2**30)
    quarters = [
        Pool(*(array[:, first : first + AT_ONCE] for array in pool))
        for first in range(0, CHAINS, AT_ONCE)
    ]
    return [reduce_pool(engine, some, SPEC, plan) for some in (pool, *quarters)]


def _united(rounds: list[PoolSums], most: int) -> PoolSums:
    units = Units(most)
    for one in rounds:
        units.add(one)
    return units.sums


def _estimates(found: PoolSums) -> np.ndarray:
    products = products_of(found, SPEC, "actor", 1, 0)
    samples = leave_one_out(products.chains)
    moments = moments_of(products, samples)
    return np.array([moments.square, step_variance(products, samples), moments.variance])


def test_chains_that_are_few_enough_stay_as_they_are(rounds: list[PoolSums]) -> None:
    whole, *quarters = rounds
    found = _united(quarters, CHAINS)
    for field, array in whole.objectives["critic"]._asdict().items():
        own = getattr(found.objectives["critic"], field)
        np.testing.assert_allclose(own, array, rtol=1e-5, atol=1e-7)
    assert (found.partners == whole.partners).all()


@pytest.mark.parametrize("most", [24, 48])
def test_estimates_and_their_errors_hold(rounds: list[PoolSums], most: int) -> None:
    whole, *quarters = rounds
    chains, units = _estimates(whole), _estimates(_united(quarters, most))
    assert units.shape[1] == most + 1
    # What is linear in chains is the same to rounding; |E G|² leaves out the pairs within a unit.
    np.testing.assert_allclose(units[:2, 0], chains[:2, 0], rtol=1e-6)
    np.testing.assert_allclose(units[2, 0], chains[2, 0], rtol=0.02)
    error = [np.sqrt((x.shape[1] - 2) * x[:, 1:].var(axis=1)) for x in (units, chains)]
    np.testing.assert_allclose(error[0], error[1], rtol=0.35)


def test_no_chain_is_lost_where_sizes_differ(rounds: list[PoolSums]) -> None:
    whole, *quarters = rounds
    found = _united(quarters, 36)
    assert found.partners.sum() == whole.partners.sum()
    sizes = np.bincount(np.arange(CHAINS) % 36)
    square = found.objectives["actor"].square[1, 0]
    total = whole.objectives["actor"].square[1, 0].sum()
    np.testing.assert_allclose(sizes @ square, total, rtol=1e-6)
