"""Samples that stay together are found, and uniform shuffles hardly ever accused."""

import pytest
from scipy import stats

from nbyt.minibatch import SCHEMES, audit, mixing


@pytest.mark.parametrize("name", ["whole_envs", "brax", "rl_games", "dopamine"])
def test_blocks_of_one_env_are_found_without_knowing_the_envs(name) -> None:
    found = audit(SCHEMES[name].sampler(8, 64), batch=512, minibatch=64, epochs=3)
    assert "blocks" in found.codes
    assert any("samples 8 apart" in fault.message for fault in found.faults)


def test_blocks_are_told_apart_by_envs_steps_and_order() -> None:
    def words(name: str, **known) -> str:
        sampler = SCHEMES[name].sampler(8, 64)
        sizes = {"batch": 512, "minibatch": 64 if name != "consecutive" else 32, "epochs": 2}
        return audit(sampler, **sizes, **known).faults[-1].message

    assert "whole envs" in words("whole_envs", envs=8, steps=64)
    assert "steps of one env that follow" in words("consecutive", envs=8)
    assert "neighbouring envs at the same step" in words("time_slabs", steps=64)
    # The same indices, read as n * T + t: time slabs are then steps in a row.
    slabs = words("time_slabs", envs=8, steps=64, order="env-major")
    assert "steps of one env" in slabs


def test_false_alarms_are_rarer_than_stated(monkeypatch) -> None:
    """With one false alarm in five allowed instead of one in 100,000, so that they can be counted.

    Uniform shuffles of every kind, whose counts are not all of one law.
    """
    allowed, alarms, audits = 0.2, 0, 0
    monkeypatch.setattr(mixing, "FALSE_ALARMS", allowed)
    sizes = [(6, 2, 2), (30, 7, 3), (64, 32, 2), (100, 60, 2), (96, 4, 3)]
    for batch, minibatch, epochs in sizes:
        for name in ("sb3", "ppo1", "skrl"):
            sampler = SCHEMES[name].sampler(1, batch)
            for seed in range(2):
                sizes_asked = {"batch": batch, "minibatch": minibatch, "epochs": epochs}
                found = audit(sampler, **sizes_asked, seed=1000 * seed)
                alarms += bool(found.codes & {"blocks", "unshuffled", "same_permutation"})
                audits += 1
    assert alarms <= stats.binom(audits, allowed).ppf(0.999)
