"""Measuring stages: each has chains of its own, and the same ones every time."""

from pathlib import Path

import numpy as np
import pytest

from nbyt.advice import measuring
from nbyt.advice.measuring import measure
from nbyt.advice.request import effort, make_advice_request
from nbyt.advice.stages import Measured, stage_to_measure
from nbyt.errors import StoreError
from nbyt.exact import frozenlake
from nbyt.measure.frozen_policy import FrozenStage
from nbyt.results import plain
from nbyt.store.files import MEASUREMENT
from nbyt.store.run import open_run


@pytest.fixture(scope="module")
def measured_twice(tmp_path_factory: pytest.TempPathFactory) -> list[list[Measured]]:
    """One policy measured as stage 1 and as stage 2, in two folders."""
    control = frozenlake("mid")
    request = make_advice_request(control.env, batch=64, effort=effort("quick"), steps=[4, 16])
    target = stage_to_measure(FrozenStage(control.env, control.stage))

    def in_folder(path: Path) -> list[Measured]:
        folder = open_run(path, {}, "advise")
        return measure(request, [target, target], folder, lambda *_: None)

    return [in_folder(tmp_path_factory.mktemp("advice") / name) for name in ("one", "two")]


def variance(measured: Measured) -> list[float]:
    return [one.actor.variance.value for one in measured.record.layouts]


def test_stages_do_not_share_their_random_numbers(measured_twice) -> None:
    first, second = map(variance, measured_twice[0])
    assert not np.isclose(first, second, rtol=1e-6).any()


def test_a_stage_has_the_same_chains_every_time(measured_twice) -> None:
    for one, other in zip(*measured_twice, strict=True):
        assert variance(one) == variance(other)
        for name in one.tensors:
            np.testing.assert_array_equal(one.tensors[name], other.tensors[name], name)


def test_another_policy_or_other_layouts_are_measured_anew(
    measured_twice, tmp_path: Path, monkeypatch
) -> None:
    first = measured_twice[0][0]
    env = first.stage.frozen_policy.env
    folder = open_run(tmp_path / "advice", {}, "advise")
    calls: list[tuple[int, ...]] = []
    real = measuring.examine
    monkeypatch.setattr(
        measuring,
        "examine",
        lambda target, request, **o: calls.append(request.steps) or real(target, request, **o),
    )
    for steps in ([4, 16], [4, 16], [8, 16]):
        request = make_advice_request(env, batch=64, effort=effort("quick"), steps=steps)
        measure(request, [first.stage], folder, lambda *_: None)
    assert calls == [(4, 16), (8, 16)]


def test_a_measurement_without_its_arrays_is_refused(measured_twice, tmp_path: Path) -> None:
    first = measured_twice[0][0]
    env = first.stage.frozen_policy.env
    folder = open_run(tmp_path / "advice", {}, "advise")
    arrays = {"scale/mean": first.tensors["scale/mean"]}
    folder.write(MEASUREMENT, (arrays, plain(first.record)), 1)
    request = make_advice_request(env, batch=64, effort=effort("quick"), steps=[4, 16])
    with pytest.raises(StoreError, match="'scale/spread' is missing"):
        measure(request, [first.stage], folder, lambda *_: None)
