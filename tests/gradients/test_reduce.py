"""A pool is reduced to the same sums in any slabs, with or without a joined objective."""

from numpy.testing import assert_allclose
from tests.gradients.comparing import CHAINS, SPEC, STEPS, case_of, stage_engine
from tests.gradients.conftest import noise_pool

from nbyt.gradients.chains import products_of
from nbyt.gradients.reduce import reduce_pool
from nbyt.gradients.spec import GradientSpec, SlabPlan

AHEAD = 6


def test_slabs_and_blocks_change_nothing() -> None:
    case = case_of("mlp")
    pool = noise_pool(case, CHAINS, STEPS + AHEAD)
    whole = reduce_pool(stage_engine(case), pool, SPEC, SlabPlan(CHAINS, STEPS, (), 0))
    cut = reduce_pool(stage_engine(case), pool, SPEC, SlabPlan(3, 4, (), 0))
    assert cut.partners.tolist() == [1, 1, 2, 2, 2]
    for name, one in whole.objectives.items():
        other = cut.objectives[name]
        for field in ("vectors", "whole", "square", "step_square"):
            assert_allclose(getattr(one, field), getattr(other, field), rtol=1e-4, atol=1e-6)


def test_total_of_separate_networks_is_actor_and_critic_side_by_side() -> None:
    case = case_of("mlp")
    pool = noise_pool(case, CHAINS, STEPS + AHEAD)
    spec = GradientSpec((2, 8), (0.9,), STEPS, 0.95, True, value_coefficient=0.7)
    plan = SlabPlan(CHAINS, STEPS, (), 0)
    apart = reduce_pool(stage_engine(case), pool, spec, plan)
    joined = GradientSpec((2, 8), (0.9,), STEPS, 0.95, True, value_coefficient=0.7, joined=True)
    together = reduce_pool(stage_engine(case), pool, joined, plan)
    one = products_of(apart, spec, "total", 1, 0)
    other = products_of(together, joined, "total", 1, 0)
    for field in ("square", "step_square", "step_pairs", "means", "cross", "reference"):
        assert_allclose(getattr(one, field), getattr(other, field), rtol=1e-3, atol=1e-6)
