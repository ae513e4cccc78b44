"""What `compare` advises is true: applied to the settings, it reaches what it claims."""

import re

import pytest
from hypothesis import given, settings
from tests.dialects.random_settings import applied, explanations, settings_named

from nbyt.dialects import compare, explain
from nbyt.dialects.comparing import Comparison, compared
from nbyt.dialects.explaining import Explanation


def said_of_the_rate(found: Comparison) -> str:
    """The sentence about mini-batch and learning rate, if there is one."""
    return next((one["message"] for one in found.findings if one["code"] == "learning_rate"), "")


@settings(max_examples=300)
@given(explanations(), explanations())
def test_advice_reaches_what_it_claims(before: Explanation, after: Explanation) -> None:
    found = compared(before, after)
    for offer in found.equal_batch:
        again = applied(after, offer)
        assert not again.reading.refusals and again.layout["batch"] == before.layout["batch"]
    keep = re.search(r"or keep the mini-batch \((.+)\)", said_of_the_rate(found))
    if keep:
        again = applied(after, settings_named(after.dialect, keep[1]))
        assert not again.reading.refusals
        assert again.layout["minibatch"] == before.layout["minibatch"]
        assert again.layout["batch"] == after.layout["batch"]


@pytest.mark.parametrize(
    ("library", "sizes", "kept", "batch"),
    [
        ("skrl", {}, "16,384", "1,024"),
        ("rsl_rl", {"num_steps_per_env": 24}, "12,288", "1,536"),
    ],
)
def test_a_mini_batch_larger_than_the_batch_cannot_be_kept(library, sizes, kept, batch) -> None:
    sides = [(library, {**sizes, "num_envs": envs}) for envs in (2048, 64)]
    said = said_of_the_rate(compare(*sides))
    assert "keep the mini-batch" not in said
    assert f"a mini-batch of {kept} cannot be kept with this batch of {batch}" in said


def test_a_mini_batch_that_can_be_kept_is() -> None:
    found = compare(("skrl", {"num_envs": 64}), ("skrl", {"num_envs": 2048}))
    assert "or keep the mini-batch (mini_batches=64)" in said_of_the_rate(found)


def test_the_factors_that_a_user_set_stay_in_an_equal_batch() -> None:
    before, after = explain("sb3", n_envs=8, n_steps=96), explain("rllib", num_env_runners=4)
    for offer in compared(before, after).equal_batch:
        assert "num_env_runners" not in offer and applied(after, offer).layout["batch"] == 768


def test_sides_without_a_mini_batch_are_compared() -> None:
    """Settings that leave no mini-batch are told as refused, and nothing else is claimed of it."""
    refused = ("acme", {"num_actors": 1, "unroll_length": 4, "num_minibatches": 2048})
    other = ("pufferlib", {"num_agents": 1, "batch_size": 128, "minibatch_size": 64})
    for sides in ((refused, other), (other, refused)):
        found = compare(*sides)
        assert {"refused"} <= {one["code"] for one in found.findings}
        assert not said_of_the_rate(found)
