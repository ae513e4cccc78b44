"""The program that sums a slab: compiled once, and sketched within its spread."""

import numpy as np
from tests.gradients.comparing import CHAINS, SPEC, STEPS, case_of, stage_engine
from tests.gradients.conftest import noise_pool

from nbyt.gradients.chains import products_of
from nbyt.gradients.reduce import reduce_pool
from nbyt.gradients.slab_sums import sum_slab
from nbyt.gradients.spec import SlabPlan

AHEAD = 6


def test_sketches_keep_inner_products_within_their_spread() -> None:
    case = case_of("mlp")
    pool = noise_pool(case, CHAINS, STEPS + AHEAD)
    exact = reduce_pool(stage_engine(case), pool, SPEC, SlabPlan(CHAINS, STEPS, (), 0))
    sketched = reduce_pool(stage_engine(case), pool, SPEC, SlabPlan(CHAINS, STEPS, (), 64))
    truth = products_of(exact, SPEC, "actor", 2, 0).means[0]
    groups = products_of(sketched, SPEC, "actor", 2, 0).means
    error = groups.std(axis=0, ddof=1) / np.sqrt(len(groups))
    assert groups.shape[0] == 8
    assert np.abs(groups.mean(axis=0) - truth).max() < 5 * error.max()


def test_one_compilation_serves_all_blocks() -> None:
    case = case_of("mlp")
    before = sum_slab._cache_size()
    for seed in (0, 1):
        pool = noise_pool(case, 7, STEPS + AHEAD, seed)
        reduce_pool(stage_engine(case), pool, SPEC, SlabPlan(3, STEPS, (2,), 0))
    assert sum_slab._cache_size() == before + 1
