"""nbyt.load gives back what was kept."""

from pathlib import Path

import pytest

import nbyt
from nbyt.cli import main
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


def test_a_kept_measurement_is_a_table_and_a_picture(tmp_path) -> None:
    trained = nbyt.train("FrozenLake-v1", envs=4, steps=8, minibatch=16, total=128, out=tmp_path)
    asked = ["probe", str(trained.stages[-1]), "--batch", "32", "--steps", "4,8", "--chains", "8"]
    out = tmp_path / "probed"
    assert main.run([*asked, "--skip-phase", "--quiet", "--out", str(out)]) == 0
    found = nbyt.load(out)
    assert [one.steps for one in found.layouts] == [4, 8] and len(found.to_frame()) == 2
    assert found.plot().data and "actor" in str(found) and "actor" in found._repr_html_()
    assert (out / "report.html").is_file()
    (out / "report.html").unlink()
    assert main.run(["report", str(out), "--json"]) == 0 and (out / "report.html").is_file()


@pytest.mark.parametrize("name", ["advise", "sweep", "train", "study", "probes"])
def test_what_is_loaded_says_in_a_few_lines_what_it_is(name) -> None:
    found = nbyt.load(FOLDERS / name)
    assert 0 < len(str(found)) < 3000 and "<" in found._repr_html_()


def test_another_folder_is_refused(tmp_path) -> None:
    with pytest.raises(StoreError, match="holds no finished"):
        nbyt.load(tmp_path)
