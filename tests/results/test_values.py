"""Laws of the door: what nbyt wrote comes back, and what it cannot have written is named."""

from typing import Any

import pytest
from tests.results.reading import FILE
from tests.store import kept

from nbyt.errors import StoreError
from nbyt.results import decode, plain
from nbyt.results.advice import Costs


def test_keys_of_later_versions_are_passed_over() -> None:
    assert plain(decode({**kept.COSTS, "later": 1}, Costs, FILE)) == kept.COSTS


COSTS: dict[str, tuple[Any, str]] = {
    "missing": ({}, "timed is missing"),
    "null": ({"timed": None}, "timed: expected a list, got null"),
    "empty": ({"timed": []}, "timed: expected a list of length >= 1"),
    "short": ({"timed": [[8, 16]]}, "timed[0]: expected a list of length 3"),
    "text": ({"timed": [[8, "x", [1.0, 2.0]]]}, "timed[0][1]: expected a whole number, got text"),
    "flag": ({"timed": [[True, 1, [1.0, 2.0]]]}, "timed[0][0]: expected a whole number, got true"),
    "zero": ({"timed": [[8, 0, [1.0, 2.0]]]}, "timed[0][1]: expected a whole number >= 1"),
    "huge": ({"timed": [[8, 16, [1.0, 1e308]]]}, "timed[0][2][1]: expected a number <= 1"),
    "twice": ({"timed": [[8, 16, [1.0, 2.0]]] * 2}, "a layout was timed twice"),
    "ragged": (
        {"timed": [[8, 16, [1.0, 2.0]], [4, 32, [1.0, 2.0, 3.0]]]},
        "layouts were timed in different numbers of rounds",
    ),
    "deep": ({"timed": [[[[[[[]]]]]]]}, "timed[0]"),
    "no object": ([], "expected an object, got a list"),
}


@pytest.mark.parametrize("name", COSTS)
def test_a_wrong_key_is_named(name: str) -> None:
    facts, words = COSTS[name]
    with pytest.raises(StoreError) as caught:
        decode(facts, Costs, FILE)
    message = caught.value.message
    assert message.startswith("a-file.json is not what nbyt writes: ") and words in message.lower()
    assert caught.value.exit_code == 2 and caught.value.fix
