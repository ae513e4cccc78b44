"""Home and abroad by sampling: tiny runs, numbers with a known truth, verdicts both ways."""

import json

import numpy as np
import pytest

from nbyt.studies.numbers import mean_of
from nbyt.studies.replay.claims import unseen_numbers as numbers
from nbyt.studies.replay.claims.unseen import CLAIMS
from nbyt.studies.replay.experiments import unseen_carts, unseen_lakes, unseen_runs
from nbyt.studies.replay.experiments.unseen_runs import SAMPLINGS
from nbyt.studies.study import judged
from nbyt.train.dqn_settings import DQNSettings

SEEDS = 6
SLOPE = 0.5


def made(beyond: float, better: float, *, carts: bool) -> dict:
    """Data in which uniform is better at home by one number, and abroad beyond that by another."""
    generator = np.random.default_rng(0)
    conditions = ["wide starts", "long pole"] if carts else ["maps never met"]
    rows = []
    for sampling in SAMPLINGS:
        first = sampling == numbers.RANDOM
        seeds = []
        for _ in range(SEEDS):
            home = 100 + better * first + generator.normal(0, 5, 6)
            noise = generator.normal(0, 0.1, 6)
            abroad = (20 + SLOPE * home + beyond * first + noise).tolist()
            seeds.append(
                {
                    "home": home.tolist(),
                    "abroad": dict.fromkeys(conditions, abroad),
                }
            )
        rows.append({"sampling": sampling, "seeds": seeds})
    data = {"env": "an env", "home": "as trained", "conditions": conditions, "rows": rows}
    data["steps"] = [10, 20, 30, 40, 50, 60]
    return {**data, "never_visited": [0.9, 0.8]} if carts else data


def results(beyond: float, better: float) -> dict:
    return {
        "unseen-carts": made(beyond, better, carts=True),
        "unseen-few-lakes": made(beyond, better, carts=False),
        "unseen-many-lakes": made(beyond, better, carts=False),
    }


@pytest.mark.parametrize(
    ("beyond", "better", "words"),
    [
        (30.0, 5.0, ("holds", "holds")),
        (-30.0, 5.0, ("does not hold", "does not hold")),
        # Better at home and therefore abroad, and nothing beyond that.
        (-1.0, 40.0, ("holds", "does not hold")),
    ],
)
def test_verdicts_follow_the_data(beyond, better, words) -> None:
    found = [judged(claim, results(beyond, better)) for claim in CLAIMS]
    assert tuple(one["word"] for one in found) == words
    assert all(one["figures"] and one["notes"] for one in found)
    json.dumps(found, allow_nan=False)


def test_at_equal_home_what_home_explains_is_gone() -> None:
    data = made(7.0, 40.0, carts=False)
    level = numbers.gained(data, "newest", "maps never met")
    beyond = numbers.gained_at_equal_home(data, "newest", "maps never met")
    assert level.value == pytest.approx(SLOPE * 40 + 7, abs=2)
    assert beyond.low < 7 < beyond.high
    assert beyond.high - beyond.low < 1


def test_the_interval_of_a_mean_is_students() -> None:
    values = np.random.default_rng(1).normal(size=(8, 3))
    found = numbers.over_seeds(lambda some: float(some[0].mean()), [values])
    usual = mean_of(values.mean(1))
    assert found.value == pytest.approx(usual.value)
    assert found.low <= usual.low + 1e-9
    assert found.high >= usual.high - 1e-9


def test_levels_are_those_of_the_last_half() -> None:
    data = made(0.0, 0.0, carts=False)
    own = data["rows"][0]["seeds"][0]["home"]
    assert numbers.levels(data, "uniform", "as trained")[0].tolist() == own[3:]


def test_tiny_runs_fill_the_claims(bench, monkeypatch) -> None:
    small = DQNSettings(learning_rate=1e-3, network="8")
    for module in (unseen_carts, unseen_lakes):
        monkeypatch.setattr(module, "SETTINGS", small)
        monkeypatch.setattr(module, "SEEDS", (1, 1))
        monkeypatch.setattr(module, "TOTAL", (1200, 1200))
    monkeypatch.setattr(unseen_runs, "MOMENTS", 2)
    monkeypatch.setattr(unseen_carts, "EVALUATIONS", (1, 1))
    monkeypatch.setattr(unseen_lakes, "FEW", 20)
    found = {"unseen-carts": unseen_carts.run(bench), "unseen-few-lakes": unseen_lakes.few(bench)}
    found["unseen-many-lakes"] = found["unseen-few-lakes"]
    found = json.loads(json.dumps(found, allow_nan=False))
    assert all(0 < share <= 1 for share in found["unseen-carts"]["never_visited"])
    lakes = [seed for row in found["unseen-few-lakes"]["rows"] for seed in row["seeds"]]
    assert all(0 <= value <= 1 for seed in lakes for value in seed["home"])
    for claim in CLAIMS:
        assert judged(claim, found)["checks"]
