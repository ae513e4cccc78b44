"""Law: what is gated is what a probe prints, and every estimate has a truth."""

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from benchmarks.calibration.cases import BY_NAME, Case
from benchmarks.calibration.estimates import Estimator
from benchmarks.calibration.pools import Drawer, load, save
from benchmarks.calibration.sampler import Sampler
from benchmarks.calibration.truths import truths

import nbyt
from nbyt.exact import moments

SEED = 11


@pytest.fixture(scope="module")
def case() -> Case:
    return replace(BY_NAME["garnet"], chains=16, chain_steps=16, steps=(4, 8))


def test_a_pool_gives_what_a_probe_prints(case: Case, tmp_path: Path) -> None:
    drawer, control = Drawer(case), case.control
    pool = drawer.collect(SEED, synchronised=False)
    save(tmp_path / "pool.npz", drawer.measure(SEED, pool))
    found = Estimator(case).estimates(load(tmp_path / "pool.npz", case), SEED)
    assert set(found) == set(truths(case))
    printed = nbyt.probe(
        control.env,
        control.stage,
        batch=control.batch,
        steps=case.steps,
        gamma=control.gamma,
        lam=control.lam,
        chains=case.chains,
        chain_steps=case.chain_steps,
        advantages="raw",
        seed=SEED,
    ).as_dict()
    expected = {(0, "", "explained_variance"): printed["critic"]["explained_variance"]}
    for layout in printed["layouts"]:
        for name in ("actor", "critic", "total"):
            for field, one in layout[name].items():
                expected[layout["steps"], name, field] = one
    for name, profile in printed["lags"].items():
        expected[0, name, "across"] = profile["across"]
        expected |= {(0, name, f"lag_{lag}"): one for lag, one in profile["within"].items()}
    for layout in printed["ranking"]["actor"]:
        expected[layout["steps"], "actor", "regret"] = layout["regret"]
    for key, one in expected.items():
        if key[2] == "regret":  # redrawn chains: the seed's role is another
            continue
        ours = found[key].as_dict()
        for end in ("value", "low", "high"):
            wanted = one[end] and pytest.approx(one[end], rel=1e-3, abs=1e-6)
            assert ours[end] == wanted, (key, end)
    assert {key[2] for key in set(found) - set(expected)} <= {"rho_ratio", "rho_difference"}


def test_the_sampler_has_the_stationary_law() -> None:
    control = BY_NAME["garnet"].control
    pool = Sampler(control).draw(np.random.default_rng(SEED), 500, 200)
    own = moments(control.env, control.stage, steps=1, gamma=control.gamma, lam=0.0).critic
    # The critic's gradient at T = 1 is the mean TD error by state, so law, rewards and values
    # must all be right for it to be.
    delta = pool.reward + control.gamma * pool.next_value - pool.value
    mean = np.bincount(pool.observation.ravel(), delta.ravel(), minlength=6) / delta.size
    assert np.abs(mean - own.mean).max() < 0.01
    assert np.abs(own.mean).max() > 0.05
