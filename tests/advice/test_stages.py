"""Measuring stages: each has chains of its own, and the same ones every time."""

from pathlib import Path

import numpy as np
import pytest

from nbyt.advice.request import effort, make_advice_request
from nbyt.advice.stages import Measured, measure, stage_to_measure
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


def test_stages_do_not_share_their_random_numbers(measured_twice) -> None:
    first, second = (one.evidence("actor").along[0] for one in measured_twice[0])
    assert not np.isclose(first, second, rtol=1e-6).any()


def test_a_stage_has_the_same_chains_every_time(measured_twice) -> None:
    for one, other in zip(*measured_twice, strict=True):
        assert one.tensors.keys() == other.tensors.keys()
        for name in one.tensors:
            np.testing.assert_array_equal(one.tensors[name], other.tensors[name], name)


def test_a_measurement_of_another_question_or_without_its_arrays_is_refused(
    measured_twice, tmp_path: Path
) -> None:
    first = measured_twice[0][0]
    env = first.stage.frozen_policy.env
    folder = open_run(tmp_path / "advice", {}, "advise")
    for steps, left_out, words in (
        ([8, 16], "", "measured with other layouts"),
        ([4, 16], "critic/along", "'critic/along' is missing"),
    ):
        arrays = {name: array for name, array in first.tensors.items() if name != left_out}
        folder.write(MEASUREMENT, (arrays, plain(first.record)), 1)
        request = make_advice_request(env, batch=64, effort=effort("quick"), steps=steps)
        with pytest.raises(StoreError, match=words):
            measure(request, [first.stage], folder, lambda *_: None)
