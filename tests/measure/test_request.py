"""Requests: what is filled in, what is refused, and with which words."""

import pytest

from nbyt.collect.segment import horizon
from nbyt.errors import LayoutError, UsageError
from nbyt.layout import fragment_lengths
from nbyt.measure.request import make_request
from nbyt.policy.actor_critic import Stage, table

_BARE = table([[0.0, 0.0]], [0.0])
_TRAINED = Stage(
    _BARE.policy,
    _BARE.params,
    {
        "settings": {
            "gamma": 0.9,
            "lambda": 0.8,
            "normalise_advantages": "minibatch",
            "value_coefficient": 0.25,
            "entropy_coefficient": 0.01,
        }
    },
)


def test_all_divisors_up_to_2048_are_measured_and_many_are_thinned_to_twelve() -> None:
    assert fragment_lengths(2048) == tuple(2**k for k in range(12))
    assert fragment_lengths(65536)[-1] == 2048
    thinned = fragment_lengths(2520)
    assert 10 <= len(thinned) <= 12 and thinned[0] == 1
    assert all(2520 % steps == 0 for steps in thinned)


def test_what_is_not_given_comes_from_the_stages_training() -> None:
    request = make_request(_TRAINED.facts, batch=64)
    assert (request.gamma, request.lambdas, request.normalise) == (0.9, (0.8,), True)
    assert (request.value_coefficient, request.entropy_coefficient) == (0.25, 0.01)
    bare = make_request(_BARE.facts, batch=64)
    assert (bare.gamma, bare.lambdas, bare.normalise) == (0.99, (0.95,), False)
    assert make_request(_TRAINED.facts, batch=64, advantages="raw").normalise is False


@pytest.mark.parametrize(("gamma", "steps"), [(0.99, 459), (0.0, 1), (0.5, 7), (1.0, 5000)])
def test_the_reference_looks_as_far_as_one_percent(gamma: float, steps: int) -> None:
    assert horizon(gamma) == steps


def test_chains_hold_whole_fragments_of_every_length() -> None:
    request = make_request(_BARE.facts, batch=600, steps=[3, 8, 100])
    assert request.chain_steps >= 1024
    assert all(request.chain_steps % steps == 0 for steps in (3, 8, 100))
    assert make_request(_BARE.facts, batch=64, steps=[4, 32], chain_steps=33).chain_steps == 64


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"batch": 128, "steps": [3]}, "a batch of 128 has no split with 3 steps"),
        ({"batch": 128, "steps": []}, "no steps to measure"),
        ({"batch": 128, "steps": [64], "chain_steps": 32}, "chains of 32 steps have no fragment"),
        ({"batch": 0}, "batch must be a whole number"),
        ({"batch": 128, "chains": 3}, "chains must be a whole number from 4"),
        ({"batch": 128, "gamma": 1.5}, "gamma must be between 0 and 1"),
        ({"batch": 128, "lam": [0.9, -1]}, "lambda must be between 0 and 1"),
        ({"batch": 128, "advantages": "scaled"}, "unknown advantages"),
        ({"batch": 128, "start": "anywhere"}, "unknown start"),
    ],
)
def test_bad_requests_are_refused_in_words(options: dict, words: str) -> None:
    with pytest.raises((LayoutError, UsageError), match=words) as caught:
        make_request(_BARE.facts, **options)
    assert caught.value.fix and caught.value.exit_code == 2
