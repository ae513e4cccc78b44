"""Each rule speaks on the evidence of its fault, and is silent on the healthy one beside it."""

from dataclasses import replace

import numpy as np
import pytest
from msgspec import structs

from nbyt.integrations.evidence import Evidence, RolloutFacts
from nbyt.integrations.rules import RULES, same_age, summarise
from nbyt.results.probes import BatchGradient, Gradients, Minibatch, ProbeRecord, Units
from nbyt.results.values import Estimate

ENVS, STEPS = 16, 32
SOME = Estimate(value=1.0, low=0.9, high=1.1)


def gradient(worth: float) -> BatchGradient:
    names = ("individual", "covariance", "variance", "covariance_share", "noise_factor")
    known = dict.fromkeys((*names, "noise_scale"), SOME)
    return BatchGradient(ess_ratio=Estimate(value=worth, low=None, high=None), **known)


def record(update: int, *, worth: float = 0.9, cosines=(0.9, 0.8), clipped: float = 0.1):
    rows = tuple(
        Minibatch(
            epoch=epoch,
            ratio_low=0.9,
            ratio_high=1.1,
            clip_fraction=clipped + 0.001 * update,
            approximate_kl=0.01,
            cosine=cosine + 0.001 * update,
        )
        for epoch, cosine in enumerate(cosines)
    )
    return ProbeRecord(
        update=update,
        samples=update * ENVS * STEPS,
        mean_return=None,
        seconds=0.1,
        units=Units(count=16, steps=STEPS, whole=True),
        gradients=Gradients(actor=gradient(0.9 + 0.001 * update), critic=gradient(worth)),
        minibatches=rows,
        pool=None,
        warnings=(),
    )


def rollout(number: int, *, together: bool = False, value: float | None = None) -> RolloutFacts:
    ages = np.random.default_rng(number).integers(0, 200, ENVS)
    ages = np.full(ENVS, 32 * number % 200) if together else ages
    level = float(number) if value is None else value
    return RolloutFacts(ages, 2, 0.6 if value is None else 0.01, level, 10.0, 2.0)


def healthy(**changes) -> Evidence:
    evidence = Evidence(ENVS, STEPS, minibatch=128, epochs=2, updates=100)
    evidence.records = [record(k) for k in range(8)]
    evidence.rollouts = [rollout(k) for k in range(10)]
    return replace(evidence, **changes)


PLANTED = {
    "same_starts": healthy(rollouts=[rollout(k, together=True) for k in range(10)]),
    "few_envs": healthy(envs=1, records=[record(k, worth=0.1 + 0.01 * k) for k in range(8)]),
    "late_epochs": healthy(records=[record(k, cosines=(0.9, 0.05)) for k in range(8)]),
    "clipped": healthy(records=[record(k, clipped=0.6) for k in range(8)]),
    "ragged": healthy(minibatch=500),
    "few_updates": healthy(updates=5),
    "dead_critic": healthy(rollouts=[rollout(k, value=0.01 * k) for k in range(10)]),
}


def fired(evidence: Evidence) -> list[str]:
    return [one.rule for one in summarise(evidence).findings]


def test_every_rule_has_its_fault_here() -> None:
    assert set(PLANTED) == set(RULES)


@pytest.mark.parametrize("rule", RULES)
def test_a_rule_speaks_on_its_fault_alone(rule: str) -> None:
    assert fired(PLANTED[rule]) == [rule]
    (finding,) = summarise(PLANTED[rule]).findings
    assert str(finding).endswith(".") and finding.do in str(finding)


def test_a_healthy_training_is_told_its_worth_and_nothing_to_change() -> None:
    summary = summarise(healthy())
    assert summary.findings == ()
    assert [one.network for one in summary.worths] == ["actor", "critic"]
    assert summary.worths[0].samples.value == pytest.approx(512 * 0.9045, rel=0.01)
    assert "Nothing to change was found." in str(summary)


@pytest.mark.parametrize("rule", sorted(set(RULES) - {"ragged", "few_updates"}))
def test_thin_evidence_is_silent(rule: str) -> None:
    planted = PLANTED[rule]
    thin = replace(planted, records=planted.records[:2], rollouts=planted.rollouts[:2])
    assert fired(thin) == []


def test_scattered_evidence_is_silent() -> None:
    """Half of the updates show the fault, half the opposite: the interval holds both."""
    cosines = [(0.9, 0.05 if k % 2 else 0.9) for k in range(8)]
    assert fired(healthy(records=[record(k, cosines=c) for k, c in enumerate(cosines)])) == []
    worths = [0.05 if k % 2 else 1.2 for k in range(8)]
    scattered = [record(k, worth=worth) for k, worth in enumerate(worths)]
    assert fired(healthy(envs=1, records=scattered)) == []


def test_what_is_not_known_is_not_judged() -> None:
    assert fired(healthy(minibatch=None, updates=None, epochs=None)) == []
    bare = [structs.replace(record(k), minibatches=None) for k in range(8)]
    assert fired(healthy(records=bare)) == []


def test_envs_in_step_are_no_matter_where_a_rollout_holds_whole_episodes() -> None:
    facts = [rollout(k, together=True)._replace(ends=16 * 4) for k in range(10)]
    assert fired(healthy(rollouts=facts)) == []


def test_same_age_counts_the_pairs() -> None:
    ages = np.array([[1, 1, 1, 5], [2, 3, 3, 3]])
    pairs = [(i, j) for i in range(4) for j in range(i)]
    oracle = np.mean([row[i] == row[j] for row in ages for i, j in pairs])
    found = same_age(ages)
    assert found.value == pytest.approx(oracle)
    assert found.low <= found.value <= found.high
    assert same_age(np.zeros((3, 5))).low == 1.0


def test_a_summary_is_plain_data_too() -> None:
    data = summarise(PLANTED["few_envs"]).as_dict()
    assert data["batch"] == STEPS and data["measured"] == 8
    assert data["findings"][0]["rule"] == "few_envs"
    assert data["findings"][0]["number"]["high"] < 0.5
