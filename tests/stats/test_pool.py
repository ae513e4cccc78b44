"""The mean return that a pool gives, against the exact one."""

import numpy as np

from nbyt.collect.pool import Pool
from nbyt.exact import frozenlake
from nbyt.exact.values import policy_values
from nbyt.gradients.chains import return_sums
from nbyt.measure.probe import probe
from nbyt.stats.pool import mean_return


def test_the_return_of_frozenlake_is_the_chance_of_success() -> None:
    control = frozenlake("mid")
    logits = np.asarray(control.stage.params.actor["logits"], float)
    chances = np.exp(logits - logits.max(1, keepdims=True))
    chances /= chances.sum(1, keepdims=True)
    success = policy_values(control.env, chances, 0.999999).state @ control.env.start
    found = probe(
        control.env, control.stage, batch=64, steps=[4, 16], chains=64, seed=3, phase=False
    ).mean_return
    assert found.low < success < found.high
    assert found.high - found.low < 0.1


def test_rewards_come_back_in_the_envs_own_scale() -> None:
    ended = np.zeros((100, 8), bool)
    ended[9::10] = True
    zeros = np.zeros((100, 8), np.float32)
    rest = np.zeros((100, 8, 1), np.float32)
    pool = Pool(rest, zeros, zeros + 0.5, zeros, zeros, zeros, ended, ended & False)
    assert mean_return(return_sums(pool, 1.0)).value == 5.0
    assert mean_return(return_sums(pool, 4.0)).value == 20.0


def test_without_an_end_there_is_no_return() -> None:
    zeros = np.zeros((10, 8), np.float32)
    never = np.zeros((10, 8), bool)
    pool = Pool(zeros[..., None], zeros, zeros, zeros, zeros, zeros, never, never)
    found = mean_return(return_sums(pool, 1.0))
    assert found.value is None and "episodes" in found.reason
