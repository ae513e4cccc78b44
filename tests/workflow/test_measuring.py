"""Measuring stages: each has chains of its own, and the same ones every time."""

from pathlib import Path

import numpy as np
import pytest

from nbyt.errors import StoreError
from nbyt.exact import frozenlake
from nbyt.measure.specimen import StageSpecimen
from nbyt.store.advice import AdviceFolder
from nbyt.store.run import open_as
from nbyt.workflow.effort import effort
from nbyt.workflow.measuring import Measured, measure
from nbyt.workflow.question import make_question
from nbyt.workflow.subjects import subject_of


@pytest.fixture(scope="module")
def measured_twice(tmp_path_factory: pytest.TempPathFactory) -> list[list[Measured]]:
    """One policy measured as stage 1 and as stage 2, in two folders."""
    control = frozenlake("mid")
    question = make_question(control.env, batch=64, effort=effort("quick"), steps=[4, 16])
    subject = subject_of(StageSpecimen(control.env, control.stage))

    def in_folder(path: Path) -> list[Measured]:
        folder = open_as(AdviceFolder, path, {})
        return measure(question, [subject, subject], folder, lambda *_: None)

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
    env = first.subject.specimen.env
    folder = open_as(AdviceFolder, tmp_path / "advice", {})
    for steps, left_out, words in (
        ([8, 16], "", "measured with other layouts"),
        ([4, 16], "critic/along", "'critic/along' is missing"),
    ):
        arrays = {name: array for name, array in first.tensors.items() if name != left_out}
        folder.save_measurement(1, arrays, first.data)
        question = make_question(env, batch=64, effort=effort("quick"), steps=steps)
        with pytest.raises(StoreError, match=words):
            measure(question, [first.subject], folder, lambda *_: None)
