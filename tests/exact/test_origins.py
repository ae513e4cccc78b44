"""Sources of variance: against rollouts all written out, and where one of them is zero."""

import enumeration
import pytest
from modes import enumerated, gradients, mode_of, part_of
from problems import (
    PARTS,
    random_problem,
)

from nbyt import exact


@mode_of
@part_of
def test_sources_are_sums_over_all_rollouts(mode, part) -> None:
    env, stage, options, rollouts = enumerated(mode)
    scale, shift, _ = gradients(mode, part)
    expected = enumeration.sources(rollouts, scale, shift)
    found = getattr(exact.sources(env, stage, **options), part)
    for name, value in expected.items():
        assert getattr(found, name) == pytest.approx(value, rel=1e-9, abs=1e-13), name


SEEDS = range(2)


@pytest.mark.parametrize("seed", SEEDS)
def test_without_lambda_no_luck_is_credited_back(seed) -> None:
    env, stage = random_problem(seed, 5, 2)
    found = exact.sources(env, stage, steps=12, gamma=0.95, lam=0.0)
    for part in PARTS:
        parts = getattr(found, part)
        assert abs(parts.credit) < 1e-14 * parts.variance
        assert parts.policy == 0
