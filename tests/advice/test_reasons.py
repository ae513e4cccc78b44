"""Sentences of an answer: each rests on an interval that supports it."""

from tests.golden.pinned import FOLDERS

from nbyt.advice.reasons import (
    current_words,
    explanations,
    in_words,
    not_learnt,
    remedies,
    stagger_words,
    verdict,
)
from nbyt.results.advice import Advice
from nbyt.results.prior import Loss, StaggerGain
from nbyt.results.values import Estimate, OfLayout
from nbyt.store.files import ADVICE

BEST = OfLayout(envs=64, steps=32)


def loss(value: float, low: float, high: float) -> Estimate:
    return Estimate(value=value, low=low, high=high)


def test_the_verdict_says_what_to_use_and_how_sure_that_is() -> None:
    said = verdict("time", BEST, loss(0.024, 0.0, 0.08), 0.89, raced=True)
    assert said.startswith("Fastest: 64 envs x 32 steps.")
    assert "P(within 5 % of the best) = .89" in said and "2 % [0, 8]" in said
    unsure = verdict("time", BEST, loss(0.024, 0.0, 0.08), None, raced=True)
    assert "P(" not in unsure
    usual = verdict("samples", BEST, loss(0.024, 0.0, 0.08), None, raced=False)
    assert usual.startswith("For the fewest samples") and "as on most tasks" in usual


def test_a_race_in_which_nothing_was_learnt_says_so() -> None:
    assert "nothing is ranked" in not_learnt(BEST, 16)


def test_the_users_layout_is_left_where_it_is_advised() -> None:
    assert "leave it" in current_words(BEST, BEST, None)
    other = OfLayout(envs=8, steps=256)
    assert "loses 30 % [20, 40]" in current_words(other, BEST, loss(0.3, 0.2, 0.4))
    assert "not compared" in current_words(other, BEST, None)


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


def test_staggered_starts_are_recommended_only_where_they_surely_won() -> None:
    def gain(low: float) -> StaggerGain:
        won = Loss(value=0.11, low=low, high=0.27)
        return StaggerGain(costs="parallel", steps=4, tasks=9, won=won)

    (said,) = stagger_words(gain(0.02))
    assert "--stagger" in said and "T = 4" in said and "11 % [2, 27]" in said
    assert stagger_words(gain(-0.01)) == [] and stagger_words(None) == []
