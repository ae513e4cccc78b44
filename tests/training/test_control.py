"""The exact return of a policy in a table, against episodes that are written out."""

import numpy as np
import pytest

from nbyt.envs import tabular
from nbyt.stats import mean
from nbyt.training.control import Control, exact_return


def written_out(env: tabular.TabularEnv, policy: np.ndarray, state: int, left: int) -> float:
    """The mean return from a state, by following every action and every outcome."""
    if left == 0:
        return 0.0
    total = 0.0
    for action, chosen in enumerate(policy[state]):
        for p, after, reward, ends in zip(*(x[state, action] for x in env.outcomes), strict=True):
            rest = 0.0 if ends else written_out(env, policy, int(after), left - 1)
            total += chosen * p * (reward + rest)
    return total


def test_it_is_the_mean_over_all_episodes() -> None:
    generator = np.random.default_rng(0)
    shape = (3, 2, 3)
    env = tabular.from_arrays(
        generator.dirichlet(np.ones(3), (3, 2)),
        generator.normal(size=shape),
        generator.random(shape) < 0.3,
        generator.dirichlet(np.ones(3)),
        time_limit=4,
    )
    policy = generator.dirichlet(np.ones(2), 3)
    expected = sum(p * written_out(env, policy, s, 4) for s, p in enumerate(env.start))
    assert exact_return(env, policy) == pytest.approx(expected, rel=1e-6)


def test_a_gap_that_chance_does_not_explain_is_no_agreement() -> None:
    measured = mean(np.array([0.0, 1.0]))
    assert Control(measured, 0.5, -3.9).agrees and not Control(measured, 0.5, 4.1).agrees
    assert Control(measured, 0.5, 0.0).as_dict()["agrees"] is True
