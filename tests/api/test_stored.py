"""nbyt.load gives back what was kept."""

from pathlib import Path

import pytest

import nbyt
from nbyt.errors import StoreError

FOLDERS = Path(__file__).parents[1] / "golden" / "folders"


@pytest.mark.parametrize(
    ("name", "kind"),
    [
        ("advise", "Advice"),
        ("sweep", "Sweep"),
        ("train", "Training"),
        ("study", "Study"),
        ("probes", "ProbedTraining"),
    ],
)
def test_every_kind_of_folder_is_loaded(name, kind) -> None:
    assert type(nbyt.load(FOLDERS / name)).__name__ == kind


def test_a_sweep_is_a_table_and_a_picture() -> None:
    sweep = nbyt.load(FOLDERS / "sweep")
    assert len(sweep.to_frame()) == len(sweep.layouts) == 2
    assert sweep.plot().data and "sweep of" in sweep._repr_html_()


def test_another_folder_is_refused(tmp_path) -> None:
    with pytest.raises(StoreError, match="holds no finished"):
        nbyt.load(tmp_path)
