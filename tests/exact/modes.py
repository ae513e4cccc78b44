"""Modes of the oracle, each with a problem whose rollouts are all written out.

Two states, two actions, three or four steps; deaths, time limits, filler rows, centring, entropy;
one reward for each next state, or two.
"""

from functools import cache
from itertools import product

import enumeration
import pytest
from problems import PARTS, random_problem, two_rewards_problem

GAMMA, LAM, VALUE, ENTROPY = 0.9, 0.8, 0.7, 0.3
MODES = list(product([None, 2], ["same-step", "next-step"], ["stationary", "reset"], [False, True]))
MODES += [
    (None, "same-step", "stationary", False, "two rewards"),
    (2, "next-step", "reset", True, "two rewards"),
]
mode_of = pytest.mark.parametrize("mode", MODES, ids=["-".join(map(str, m)) for m in MODES])
part_of = pytest.mark.parametrize("part", PARTS)


@cache
def enumerated(mode, steps=3):
    """The problem of a mode, the options it is asked with, and all of its rollouts."""
    time_limit, autoreset, start, centre, *two_rewards = mode
    problem = two_rewards_problem if two_rewards else random_problem
    env, stage = problem(7, 2, 2, time_limit=time_limit, ends=0.3)
    ends = env.outcomes.terminated
    assert ends.any() and not ends.all()
    base = {"steps": steps, "gamma": GAMMA, "lam": LAM, "start": start, "autoreset": autoreset}
    rollouts = enumeration.enumerate_rollouts(env, stage, **base)
    assert rollouts.probability.sum() == pytest.approx(1, abs=1e-12)
    extra = {"centre": centre, "value_coefficient": VALUE, "entropy_coefficient": ENTROPY}
    return env, stage, {**base, **extra}, rollouts


def gradients(mode, part):
    """Contributions [n, T, p] of every rollout."""
    _, stage, options, rollouts = enumerated(mode)
    scale, shift = enumeration.contributions(
        rollouts, stage, part, centre=options["centre"], value=VALUE, entropy=ENTROPY
    )
    return scale, shift, scale * rollouts.advantage[..., None] + shift
