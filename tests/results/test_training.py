"""Files of a training come back whole, and wrong keys in them are named."""

from typing import Any

import pytest
from tests.results.reading import FILE, comes_back_whole
from tests.store import kept

from nbyt.errors import StoreError
from nbyt.results import decode
from nbyt.results.training import Result, StageFacts


@pytest.mark.parametrize("value", [None, "x", [], 1e308, -1.0, True])
def test_a_wrong_reward_scale_or_settings_are_named(value: Any) -> None:
    for key in ("reward_scale", "settings"):
        if (key, value) == ("reward_scale", None):
            continue
        with pytest.raises(StoreError, match=f"writes: {key}"):
            decode({**kept.stage(), key: value}, StageFacts, FILE)


def test_a_result_and_a_stage_come_back_whole() -> None:
    assert comes_back_whole(kept.RESULT, Result)
    assert comes_back_whole(kept.stage(), StageFacts)
