"""Reasons: each sentence appears where its numbers say so, and only there."""

import numpy as np
import pytest

from nbyt.advice import rank
from nbyt.advice.rank import Evidence, StageEvidence
from nbyt.advice.reasons import advice, current, reasons, remedies
from nbyt.stats.estimate import Estimate

LAYOUTS = ((64, 1), (8, 8), (1, 64))


def _number(value, spread=0.01):
    return {"value": value, "low": value - spread, "high": value + spread}


def _gradient(bias, noise, covariance=0.0):
    return {
        "bias_factor": _number(bias),
        "noise_factor": _number(noise),
        "alignment": _number(bias * noise),
        "variance": _number(2.0),
        "covariance": _number(2.0 * covariance),
    }


def _stage(bias=(0.2, 0.9, 0.95), noise=(0.8, 0.8, 0.3), covariance=0.0, critic=0.9, **more):
    layouts = [
        {
            "envs": n,
            "steps": t,
            "lambda": 0.95,
            "actor": _gradient(b, e, covariance),
            "seconds": _number(0.01 * t, 0.001),
        }
        for (n, t), b, e in zip(LAYOUTS, bias, noise, strict=True)
    ]
    return {
        "name": "update 5",
        "weight": 1.0,
        "clear": True,
        "lambda": 0.95,
        "layouts": layouts,
        "critic": {"explained_variance": _number(critic)},
        "closer": None,
        "warnings": [],
        "pool": {"samples": 1000},
        **more,
    }


def _answer(stage, low=None):
    values = np.array([one["actor"]["alignment"]["value"] for one in stage["layouts"]])
    luck = 0.01 * np.random.default_rng(0).normal(size=(500, 3))
    along = np.sqrt(np.abs(np.vstack([values, values + luck]))) * np.sign(values)
    evidence = Evidence((1, 8, 64), along, np.ones_like(along), np.zeros_like(along))
    estimates = tuple(Estimate(v, v - 0.02, v + 0.02, 64) for v in values)
    return rank.answer([StageEvidence("update 5", 1.0, evidence, estimates, estimates)], LAYOUTS)


def _said(stage):
    return " ".join(reasons(_answer(stage), [stage], stage, "actor"))


def test_short_t_loses_direction_and_long_t_loses_to_noise() -> None:
    text = _said(_stage())
    assert "Shorter T loses direction" in text and ".20 [.19, .21] for 64x1" in text
    assert "Longer T loses to noise" in text and ".30 [.29, .31] for 1x64" in text


def test_time_is_a_reason_where_the_answer_is_per_second() -> None:
    found = _answer(_stage())
    text = " ".join(reasons(found, [_stage()], _stage(), "actor", timed=True))
    assert "640 ms [639, 641] with 1x64" in text and "80 ms [79, 81] with 8x8" in text
    assert "takes" not in _said(_stage())


def test_a_difference_too_small_to_matter_is_no_reason() -> None:
    assert "Longer" not in _said(_stage(bias=(0.2, 0.9, 0.9), noise=(0.8, 0.8, 0.79)))


def test_the_term_that_makes_the_noise_is_named() -> None:
    assert "that of single steps" in _said(_stage(covariance=0.02))
    assert "in good part covariance" in _said(_stage(covariance=0.4))
    assert "lowered by covariance" in _said(_stage(covariance=-0.4))


@pytest.mark.parametrize("covariance", [-0.14, 0.14, 0.02])
def test_no_term_is_named_where_its_interval_holds_zero_and_more(covariance: float) -> None:
    stage = _stage(covariance=covariance)
    for layout in stage["layouts"]:
        layout["actor"]["covariance"] = _number(2.0 * covariance, 2.0 * 0.25)
    assert "covariance" not in _said(stage)


def test_layouts_that_point_away_are_called_harmful() -> None:
    stage = _stage(bias=(-0.5, 0.9, 0.95))
    assert "Harmful at update 5" in _said(stage) and "64x1" in _said(stage)
    assert "Harmful" not in _said(_stage())


def test_phase_and_sources_speak_where_they_were_measured() -> None:
    own = {"envs": 8, "steps": 8, "lambda": 0.95, "actor": _gradient(0.9, 0.8)}
    own["actor"]["phase"] = _number(1.0)
    parts = {"sampling": 0.2, "own_step": 0.3, "credit": 1.4, "coupling": 0.1, "variance": 2.0}
    sources = {name: _number(value) for name, value in parts.items()}
    closer = {
        "layouts": [own],
        "sources": {"layouts": [{"envs": 8, "steps": 8, "actor": sources}]},
    }
    stage = _stage(closer=closer)
    assert "later randomness that is credited to earlier actions: 70 %" in _said(stage)
    assert "add 0.5 times the variance" in _said(stage)
    assert any("Staggered" in line for line in remedies(_answer(stage), stage, "actor"))
    assert not any("Staggered" in line for line in remedies(_answer(_stage()), _stage(), "actor"))


def test_another_lambda_is_offered_only_where_it_is_clearly_better() -> None:
    def offered(value):
        other = {"envs": 8, "steps": 8, "lambda": 0.5, "actor": _gradient(value, 1.0)}
        stage = _stage(closer={"layouts": [other], "sources": {}})
        return any("Another lambda" in x for x in remedies(_answer(stage), stage, "actor"))

    assert offered(0.9) and not offered(0.725)


def test_a_poor_critic_and_a_small_batch_are_named() -> None:
    stage = _stage(critic=0.02, noise=(0.3, 0.3, 0.1))
    said = " ".join(remedies(_answer(stage), stage, "actor"))
    assert "A better critic" in said and "A larger batch" in said
    said = " ".join(remedies(_answer(_stage()), _stage(), "actor"))
    assert "critic" not in said and "batch" not in said


def test_the_advice_says_what_ties_and_where_libraries_stand() -> None:
    stage = _stage(bias=(0.2, 0.9, 0.91), noise=(0.8, 0.8, 0.79))
    found = _answer(stage)
    libraries = [{"library": "CleanRL", "placed_at": [8, 8]}]
    said = advice(found, [stage], stage, libraries, "actor")
    assert said["ties"] and said["ties"][0] in ([8, 8], [1, 64])
    row = next(row for row in said["ranking"] if row["steps"] == 8)
    assert row["defaults_of"] == ["CleanRL"]
    assert "tied with" in said["sentence"] and said["to_settle"] is None


def test_where_nothing_is_told_apart_it_says_so_and_what_more_would_cost() -> None:
    stage = _stage(bias=(0.5, 0.5, 0.5), noise=(0.8, 0.81, 0.805))
    said = advice(_answer(stage), [stage], stage, [], "actor")
    assert said["no_measurable_difference"] and "No measurable difference" in said["sentence"]
    assert said["to_settle"]["samples"] > 1000


@pytest.mark.parametrize(("steps", "words"), [(8, "Leave it"), (64, "Leave it"), (1, "Change it")])
def test_the_users_own_layout_is_left_alone_if_it_ties(steps: int, words: str) -> None:
    found = _answer(_stage(bias=(0.2, 0.9, 0.91), noise=(0.8, 0.8, 0.79)))
    assert current(found, steps)["sentence"].startswith(words)
