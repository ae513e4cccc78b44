"""Sentences of an answer: each rests on an interval that supports it."""

import re

import pytest
from msgspec import structs
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
    said = [not_learnt(BEST, 16, usual=usual) for usual in (True, False)]
    assert all("nothing is ranked" in one for one in said)
    assert "the usual choice" in said[0] and "hardly more than a guess" in said[1]


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


@pytest.mark.parametrize("low", [-0.3, -0.15, -0.05, 0.0, 0.05, 0.15])
@pytest.mark.parametrize("width", [0.02, 0.1, 0.3])
def test_no_reason_has_an_interval_that_holds_zero(low: float, width: float) -> None:
    """Numbers of a share: the covariance over the variance, and the alignment."""
    stage, best = last_stage()
    numbers = {"value": low + width / 2, "low": low, "high": low + width}
    (whole,) = (one.actor.variance.value for one in stage.layouts if one.steps == best.steps)
    stage = with_actor(
        stage,
        alignment=Estimate(**numbers),
        covariance=Estimate(**{name: whole * share for name, share in numbers.items()}),
    )
    ends = [map(float, one.split(", ")) for one in intervals(explanations([stage], best))]
    assert all(low > 0 or high < 0 for low, high in ends)


def test_the_alignment_is_what_is_left_of_a_hundred_ideal_steps() -> None:
    stage, best = last_stage()
    number = Estimate(value=0.671, low=0.602, high=0.718)
    said = " ".join(explanations([with_actor(stage, alignment=number)], best))
    assert "Of 100 ideal steps" in said and ", 67 [60, 72] are left" in said
    lost = Estimate(value=0.1, low=-0.2, high=0.4)
    assert "ideal" not in " ".join(explanations([with_actor(stage, alignment=lost)], best))


def intervals(said: list[str]) -> list[str]:
    return [found for one in said for found in re.findall(r"\[(.*?)\]", one)]


def last_stage():
    """A measured stage and the advised layout."""
    advice: Advice = ADVICE.read(FOLDERS / "advise" / "advice.json")
    return structs.replace(advice.stages[-1], closer=None), advice.answer


def with_actor(stage, **numbers):
    """The stage with these numbers in the actor's gradient of every layout."""
    layouts = (
        structs.replace(one, actor=structs.replace(one.actor, **numbers)) for one in stage.layouts
    )
    return structs.replace(stage, layouts=tuple(layouts))


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
