"""Budgets: how they are written, and which batch they propose."""

import numpy as np
import pytest

from nbyt.advice.budget import Budget, budget_from, propose
from nbyt.train.costs import Costs
from nbyt.advice.rank import Evidence, StageEvidence
from nbyt.advice.request import effort, make_advice_request
from nbyt.envs import resolve
from nbyt.errors import UsageError
from nbyt.stats.estimate import Estimate

STEPS = tuple(2**power for power in range(12))


@pytest.mark.parametrize(
    ("text", "kind", "amount"),
    [
        ("90s", "seconds", 90),
        ("10m", "seconds", 600),
        ("1.5h", "seconds", 5400),
        ("500k", "samples", 5e5),
        ("2M", "samples", 2e6),
        ("1_000_000", "samples", 1e6),
        ("1e6", "samples", 1e6),
    ],
)
def test_time_and_samples_are_told_apart(text: str, kind: str, amount: float) -> None:
    assert budget_from(text) == Budget(text, kind, amount)


@pytest.mark.parametrize("text", ["soon", "10 minutes", "-5m", "0", "m", "10d"])
def test_what_is_no_budget_is_refused(text: str) -> None:
    with pytest.raises(UsageError, match="budget must be a time"):
        budget_from(text)


def _proposed(budget: Budget, noise: float, a: float, b: float, c: float = 0.0) -> dict:
    """With gradients of length 1 without bias, V = `noise` / T, seconds c + a T + b N T."""
    request = make_advice_request(
        resolve("tabular:FrozenLake-v1"), batch=2048, effort=effort("quick")
    )
    rows = np.ones((1001, len(STEPS)))
    evidence = Evidence(STEPS, rows, rows, noise / np.array(STEPS) * rows)
    sure = tuple(Estimate(1.0, 0.9, 1.1, 64) for _ in STEPS)
    stage = StageEvidence("update 5", 1.0, evidence, sure, sure)
    splits = [(256, 1), (1, 256), (16384, 1), (8, 2048)]
    timed = {(n, t): [c + a * t + b * n * t] * 3 for n, t in splits}
    return propose(budget, request, [stage], Costs(timed))


def test_dear_updates_ask_for_a_large_batch_and_cheap_ones_for_a_small_one() -> None:
    dear = _proposed(Budget("1h", "seconds", 3600), noise=1e5, a=1e-9, b=1e-9, c=0.1)
    cheap = _proposed(Budget("1h", "seconds", 3600), noise=1.0, a=1e-9, b=1e-4)
    assert dear["batch"] == 16384 and cheap["batch"] == 256
    assert dear["updates"] == pytest.approx(36_000, rel=0.01)
    assert dear["gradient_steps"] == dear["updates"] * 64 * 4
    assert dear["minibatch"] == cheap["minibatch"] == 256


def test_per_sample_the_largest_batch_that_loses_little_is_taken() -> None:
    noisy = _proposed(Budget("100M", "samples", 1e8), noise=1e6, a=1e-6, b=1e-6)
    clean = _proposed(Budget("100M", "samples", 1e8), noise=1e-6, a=1e-6, b=1e-6)
    assert noisy["batch"] == 16384 and clean["batch"] == 256


def test_a_budget_that_pays_for_nothing_is_refused() -> None:
    with pytest.raises(UsageError, match="pays for"):
        _proposed(Budget("1k", "samples", 1e3), noise=1.0, a=1e-6, b=1e-6)
