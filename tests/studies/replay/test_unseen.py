"""Home and abroad by sampling: tiny runs, numbers with a known truth, verdicts both ways."""

import json

import jax
import numpy as np
import pytest

from nbyt.policy.q_policy import build_q, weights_of
from nbyt.training.dqn import DQNSettings
from nbyt.training.losses import Transitions
from nbyt_studies.numbers import mean_of
from nbyt_studies.replay import envs
from nbyt_studies.replay.claims import unseen as numbers
from nbyt_studies.replay.claims.unseen import EVIDENCE
from nbyt_studies.replay.experiments import unseen
from nbyt_studies.replay.experiments.unseen import SAMPLINGS
from nbyt_studies.replay.trainings import Followed, Moment
from nbyt_studies.study import read_claims

CLAIMS = read_claims("nbyt_studies.replay", EVIDENCE)

SEEDS = 6
SMALL = DQNSettings(learning_rate=1e-2, network="8")
SLOPE = 0.5


def made(beyond: float, better: float, *, starts: bool) -> dict:
    """Data in which uniform is better at home by one number, and abroad beyond that by another."""
    generator = np.random.default_rng(0)
    conditions = ["wide starts", "long pole"] if starts else ["maps never met"]
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
    return {**data, "never_visited": [0.9, 0.8]} if starts else data


def results(beyond: float, better: float) -> dict:
    return {
        "unseen-carts": made(beyond, better, starts=True),
        "unseen-few-lakes": made(beyond, better, starts=False),
        "unseen-many-lakes": made(beyond, better, starts=False),
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
    found = [claim.judged(results(beyond, better)) for claim in CLAIMS]
    assert tuple(one["word"] for one in found) == words
    assert all(one["figures"] and one["notes"] for one in found)
    json.dumps(found, allow_nan=False)


def test_at_equal_home_what_home_explains_is_gone() -> None:
    data = made(7.0, 40.0, starts=False)
    level = numbers.gained(data, "newest", "maps never met")
    beyond = numbers.gained_at_equal_level(data, "newest", "maps never met")
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
    data = made(0.0, 0.0, starts=False)
    own = data["rows"][0]["seeds"][0]["home"]
    assert numbers.levels(data, "uniform", "as trained")[0].tolist() == own[3:]


def untrained(met: np.ndarray):
    """A stand-in for `follow`: a network as it begins, and a buffer with these states in it."""

    def follow(context, env, layout, total, settings, *, seed, moments):
        policy = build_q(env.observation_space, env.action_space, settings.parsed_network)
        weights = weights_of(policy.init(jax.random.key(seed)))
        zeros = np.zeros(len(met))
        rows = Transitions(met, zeros, zeros, zeros > 0, met, zeros < 1)
        some = tuple(Moment(updates, policy, weights, weights, rows) for updates in moments)
        return Followed(some, (), zeros)

    return follow


def test_starts_that_were_met_do_not_count(context, monkeypatch) -> None:
    monkeypatch.setattr(unseen, "SETTINGS", SMALL)
    monkeypatch.setattr(unseen, "SEEDS", (1, 1))
    monkeypatch.setattr(unseen, "EVALUATIONS", (1, 1))
    begun = envs.begun(1)
    wide = np.flatnonzero(begun.condition == envs.CONDITIONS.index(envs.STARTS))
    monkeypatch.setattr(unseen, "follow", untrained(begun.state[wide[1:]]))
    found = json.loads(json.dumps(unseen.run(context), allow_nan=False))
    assert found["never_visited"] == [pytest.approx(1 / len(wide))]
    env = envs.home()
    policy = build_q(env.observation_space, env.action_space, SMALL.parsed_network)
    returns = envs.returns(policy, policy.init(jax.random.key(0)), 1)
    shown = found["rows"][0]["seeds"][0]
    assert shown["abroad"][envs.STARTS] == [returns[wide[0]]] * 6
    assert shown["home"][0] == pytest.approx(returns[begun.condition == 0].mean(), rel=1e-3)


def test_a_tiny_run_on_lakes_is_the_same_twice(context, monkeypatch) -> None:
    monkeypatch.setattr(unseen, "UNSEEN_LAKES_SETTINGS", SMALL)
    monkeypatch.setattr(unseen, "UNSEEN_LAKES_SEEDS", (1, 1))
    monkeypatch.setattr(unseen, "TOTAL_FEW", (1200, 1200))
    monkeypatch.setattr(unseen, "FEW", 20)
    first, second = (unseen.few(context) for _ in range(2))
    assert first == second
    uniform, sequential, newest = (row["seeds"][0]["home"] for row in first["rows"])
    assert uniform[:4] == sequential[:4] == newest[:4]  # nothing is learnt in the warm-up
    assert len({uniform[-1], sequential[-1], newest[-1]}) > 1
    assert first["steps"][-1] == 1200
