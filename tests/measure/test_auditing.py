"""What samplers cost on real rollouts: as the formulas say, and more where samples are alike."""

import jax
import pytest

from nbyt.envs import resolve
from nbyt.measure import auditing
from nbyt.measure.auditing import measured_cost, planned
from nbyt.minibatch import SCHEMES, audit
from nbyt.minibatch.epochs import audit_sizes
from nbyt.policy.actor_critic import Stage, build
from nbyt.policy.networks import parse_network

ENVS, STEPS = 4, 32


@pytest.fixture(scope="module")
def costs():
    """Of several schemes, on 32 batches of CartPole with a small network that was not trained."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(auditing, "_BATCHES", (8, 32))
        return measured()


def measured() -> dict:
    env = resolve("gymnax:CartPole-v1")
    policy = build(env.observation_space, env.action_space, parse_network("8"))
    stage = Stage(policy, policy.init(jax.random.key(2)))
    found = {}
    for name, minibatch in [
        ("shuffle_and_chop", 32),
        ("random_fetch", 32),
        ("whole_envs", 32),
        ("tianshou", 40),
    ]:
        sampler = SCHEMES[name].sampler(ENVS, STEPS)
        sizes = {"batch": ENVS * STEPS, "minibatch": minibatch, "epochs": 4}
        seen = audit(sampler, **sizes, envs=ENVS, steps=STEPS)
        found[name] = measured_cost(sampler, seen, env, stage)
    return found


@pytest.mark.parametrize("part", ["actor", "critic"])
def test_where_there_is_a_formula_the_measurement_agrees(costs, part) -> None:
    assert costs["shuffle_and_chop"][part].formula.value == 1
    for name in ("shuffle_and_chop", "random_fetch", "tianshou"):
        formula, measured = costs[name][part].formula, costs[name][part].measured
        width = measured.high - measured.low
        assert abs(measured.value - formula.value) < max(width, 1e-3)
        assert costs[name][part].best is formula
    assert costs["random_fetch"][part].formula.low > 1


def test_whole_envs_cost_the_critic_a_multiple_and_have_no_formula(costs) -> None:
    found = costs["whole_envs"]["critic"]
    assert found.formula is None and found.best is found.measured
    assert found.measured.low > 1.5
    assert found.as_dict()["formula"] is None


def test_batches_have_the_shape_asked_for_or_a_usual_one() -> None:
    known = planned(audit_sizes(2048, 64, 4, 8, None, "time-major")).as_dict()
    assert (known["envs"], known["steps"], known["samples"]) == (8, 256, 2048 * known["batches"])
    assert planned(audit_sizes(2048, 64, 4, None, None, "time-major")).steps == 128
    assert planned(audit_sizes(1009, 64, 4, None, None, "time-major")).steps == 1
    assert planned(audit_sizes(1 << 20, 64, 4, None, None, "time-major")).batches == 8
