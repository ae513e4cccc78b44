"""Sources of noise for a measurement: exact on tables, refused or not asked for elsewhere."""

from typing import Any

import pytest

from nbyt import exact
from nbyt.envs import resolve
from nbyt.errors import LayoutError
from nbyt.exact import garnet
from nbyt.measure import sources
from nbyt.measure.frozen_policy import FrozenStage
from nbyt.measure.request import make_request
from nbyt.measure.sources import NAMES, OTHER_FRAMEWORK, require_measured, sources_of

CONTROL = garnet(4, 2, 0)


def traced(frozen: Any, steps: tuple[int, ...]) -> dict[str, Any]:
    return sources_of(frozen, request(), steps, None, lambda what, done, total: None)


def request():
    return make_request({}, batch=32, steps=[2, 8], gamma=0.9, lam=0.8, advantages="raw")


def test_on_a_table_they_are_the_exact_ones_of_n_envs() -> None:
    found = traced(FrozenStage(CONTROL.env, CONTROL.stage), (8,))
    assert found["method"] == "exact"
    (layout,) = found["layouts"]
    truth = exact.sources(CONTROL.env, CONTROL.stage, steps=8, gamma=0.9, lam=0.8).actor
    assert (layout["envs"], layout["steps"]) == (4, 8)
    for name in NAMES:
        bounds = layout["actor"][name]
        assert bounds["low"] == bounds["value"] == bounds["high"]
        assert bounds["value"] == pytest.approx(getattr(truth, name) / 4)


def test_what_is_not_traced_says_why() -> None:
    frozen = FrozenStage(CONTROL.env, CONTROL.stage)
    assert traced(frozen, ()) == {"reason": "not asked for"}
    assert traced(object(), (8,)) == {"reason": OTHER_FRAMEWORK}


def test_only_measured_lengths_can_be_asked_for() -> None:
    require_measured(request(), (2, 8))
    with pytest.raises(LayoutError, match="4 steps") as caught:
        require_measured(request(), (2, 4))
    assert "2, 8" in caught.value.fix


@pytest.mark.parametrize("env", [CONTROL.env, resolve("gym:FrozenLake-v1")])
def test_rollouts_grow_fewer_with_their_length_and_stay_within_bounds(env) -> None:
    counts = [sources._rollouts(env, steps) for steps in (1, 8, 64, 512)]
    assert counts == sorted(counts, reverse=True)
    assert counts[-1] == sources._LEAST_ROLLOUTS and counts[0] <= sources._MOST_ROLLOUTS
