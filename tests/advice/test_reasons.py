"""Sentences of an answer: each rests on an interval that supports it."""

import pytest
from tests.golden.pinned import FOLDERS

from nbyt.advice.reasons import (
    alternatives,
    current_words,
    explanations,
    in_words,
    not_learnt,
    percent,
    remedies,
    verdict,
)
from nbyt.results.advice import Advice, LayoutLoss
from nbyt.results.values import Estimate, OfLayout
from nbyt.store.files import ADVICE

BEST = OfLayout(envs=64, steps=32)


def loss(value: float, low: float, high: float) -> Estimate:
    return Estimate(value=value, low=low, high=high)


def row(steps: int, value: float, low: float, high: float, cost: float = 1.0) -> LayoutLoss:
    return LayoutLoss(
        envs=2048 // steps,
        steps=steps,
        loss=loss(value, low, high),
        trainings=4,
        within_5=None,
        update_cost=cost,
        seconds=None,
        defaults_of=(),
    )


def test_the_verdict_says_what_to_use_and_how_sure_that_is() -> None:
    said = verdict("time", BEST, loss(0.024, 0.0, 0.08), 0.89, raced=True)
    assert said.startswith("Fastest: 64 envs x 32 steps.")
    assert "P(within 5 % of the best) = .89" in said and "2.4 % [0, 8]" in said
    unsure = verdict("time", BEST, loss(0.024, 0.0, 0.08), None, raced=True)
    assert "P(" not in unsure
    usual = verdict("samples", BEST, loss(0.024, 0.0, 0.08), None, raced=False)
    assert usual.startswith("For the fewest samples") and "as on most tasks" in usual


def test_other_t_are_worse_only_where_their_interval_says_so() -> None:
    rows = [
        row(2, 0.9, 0.7, 1.0, 0.5),
        row(8, 0.2, 0.1, 0.3, 0.6),
        row(16, 0.2, 0.0, 0.4, 0.8),
        row(32, 0.02, 0.0, 0.05),
        row(64, 0.04, 0.0, 0.2, 1.7),
    ]
    text = " ".join(alternatives(BEST, rows))
    hardly, worse, perhaps, near = (
        next(s for s in alternatives(BEST, rows) if s.startswith(word))
        for word in ("Hardly", "Clearly", "Probably", "About as good")
    )
    assert "T = 2" in hardly and "T = 8" in worse and "T = 16" in perhaps and "T = 64" in near
    assert "1.7 times as long" in near and "T = 32" not in text


def test_a_race_in_which_nothing_was_learnt_says_so() -> None:
    assert "nothing is ranked" in not_learnt(BEST, 16)


def test_the_users_layout_is_left_where_it_is_advised() -> None:
    assert "leave it" in current_words(BEST, BEST, None)
    other = OfLayout(envs=8, steps=256)
    assert "loses 30 % [20, 40]" in current_words(other, BEST, loss(0.3, 0.2, 0.4))
    assert "not compared" in current_words(other, BEST, None)


@pytest.mark.parametrize(
    ("given", "words"),
    [
        ((0.024, 0.0, 0.08), "2.4 % [0, 8]"),
        ((0.004, 0.0, 0.0004), "0.4 % [0, 0]"),
        ((0.5, 0.257, 0.999), "50 % [26, 100]"),
    ],
)
def test_percentages_have_no_invented_digits(given, words) -> None:
    assert percent(loss(*given)) == words


def test_layouts_are_said_in_words() -> None:
    assert in_words(OfLayout(envs=1, steps=2048)) == "1 env x 2,048 steps"


def test_explanations_hold_only_what_the_stage_supports() -> None:
    advice: Advice = ADVICE.read(FOLDERS / "advise" / "advice.json")
    best = advice.answer
    said = explanations(advice.stages, best)
    for stage in advice.stages[-1:]:
        assert all(stage.name in one or "add" in one or "source" in one for one in said)
    # With intervals that hold everything, nothing is said.
    wide = [
        type(stage)(
            **{
                **{name: getattr(stage, name) for name in stage.__struct_fields__},
                "closer": None,
                "layouts": tuple(unsure(one) for one in stage.layouts),
            }
        )
        for stage in advice.stages
    ]
    assert explanations(wide, best) == [] and remedies(wide, best) == []


def unsure(layout):
    """The same layout with intervals that hold every number."""
    gradient = type(layout.actor)
    everything = {
        name: Estimate(value=number.value, low=-1e9, high=1e9)
        for name in gradient.__struct_fields__
        if isinstance(number := getattr(layout.actor, name), Estimate)
    }
    fields = {name: getattr(layout, name) for name in layout.__struct_fields__}
    return type(layout)(**{**fields, "actor": gradient(**everything)})
