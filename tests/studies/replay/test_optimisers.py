"""Optimisers: rates are chosen on seeds of their own, and verdicts follow the data."""

import pytest

from nbyt_studies.replay.claims.training_sizes import CLAIMS
from nbyt_studies.replay.experiments import training_sizes


@pytest.fixture
def asked(monkeypatch) -> list[tuple[str, float, int]]:
    """Runs asked for; the third rate does best for SGD, the last for the others."""
    seen = []
    best = {"sgd": 3e-2, "rmsprop": 4e-3, "adam": 4e-3}

    def trained(context, seed, *, optimizer, learning_rate):
        seen.append((optimizer, learning_rate, seed))
        return 100.0 if learning_rate == best[optimizer] else 30.0

    def outcome(level):
        return {"final_return": level + seen[-1][2] % 10, "on_the_way": level, "curve": [level]}

    monkeypatch.setattr(training_sizes, "trained", trained)
    monkeypatch.setattr(training_sizes, "outcome", outcome)
    monkeypatch.setattr(training_sizes, "random_return", lambda context, env, seed: 20.0 + seed)
    return seen


def test_rates_are_chosen_apart(context, asked) -> None:
    data = training_sizes.run_optimisers(context)
    assert [row["learning_rate"] for row in data["rows"]] == [3e-2, 4e-3, 4e-3]
    choosing = {seed for _, _, seed in asked if seed >= 100}
    comparing = {seed for _, _, seed in asked if seed < 100}
    assert len(comparing) == training_sizes.SEEDS[0] and len(choosing) == training_sizes.CHOOSING[0]
    (found,) = (claim.judged({"optimisers": data}) for claim in CLAIMS[2:])
    assert found["word"] == "holds"
    assert "RMSprop, Adam" in found["notes"][-1]


def test_an_optimiser_that_does_not_learn_is_seen(context, asked) -> None:
    data = training_sizes.run_optimisers(context)
    for run in data["rows"][0]["seeds"]:
        run["final_return"] -= 90
    (found,) = (claim.judged({"optimisers": data}) for claim in CLAIMS[2:])
    assert found["word"] == "holds when"
    assert "SGD (0 of 1)" in found["verdict"]
