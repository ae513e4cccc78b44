"""nbyt time as a user gives it: a file of costs that an advice reads, and what is refused."""

import json
from pathlib import Path
from typing import Any

import pytest
from tests.cli.commands import nbyt

from nbyt.cli import main
from nbyt.errors import StoreError
from nbyt.store.files import COSTS
from nbyt.training.costs import costs_from

LAKE = "tabular:FrozenLake-v1"
COMMAND = ("time", LAKE, "--batch", "64", "--epochs", "1", "--network", "table")


@pytest.fixture(scope="module")
def timed(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Any]:
    """A file of costs, and what --json printed as it was written."""
    file = tmp_path_factory.mktemp("timed") / "costs.json"
    words = ("--envs", "32,4,32", "--out", str(file), "--json")
    return file, json.loads(nbyt(*COMMAND, *words).stdout)


def test_json_keeps_its_promise(timed: tuple[Path, Any]) -> None:
    """Each number of envs once, from the fewest on; the file holds what the data says."""
    file, record = timed
    assert (record["status"], record["command"]) == ("ok", "time")
    data = record["data"]
    assert (data["env"], data["batch"], data["out"]) == (LAKE, 64, str(file))
    assert [(one["envs"], one["steps"]) for one in data["layouts"]] == [(4, 16), (32, 2)]
    costs = costs_from(COSTS.read(file))
    assert set(costs.timed) == {(4, 16), (32, 2)}
    for one in data["layouts"]:
        seconds, milliseconds = one["seconds"], one["milliseconds"]
        assert 0 < seconds["low"] <= seconds["value"] <= seconds["high"]
        assert milliseconds["value"] == pytest.approx(1000 * seconds["value"])
        assert one["steps_per_second"] == pytest.approx(64 / seconds["value"])
        rounds = costs.timed[one["envs"], one["steps"]]
        assert min(rounds) <= seconds["value"] <= max(rounds)


def test_an_advice_reads_the_costs(timed: tuple[Path, Any], tmp_path: Path) -> None:
    """The times decide on the reference tasks, and no layout is trained."""
    file, _ = timed
    words = ("--costs", str(file), "--trainings", "0", "--steps", "2,4,8,16", "--json")
    words = (*words, "--network", "table", "--out", str(tmp_path / "advice"))
    data = json.loads(nbyt("advise", LAKE, "--batch", "64", *words).stdout)["data"]
    assert data["objective"] == "time" and data["advice"]["time"]["rests_on"] == "prior"
    assert data["costs_from"] == file.name
    assert data["costs"]["timed"] == json.loads(file.read_text())["facts"]["timed"]
    known = costs_from(COSTS.read(file)).seconds([(64 // t, t) for t in (2, 4, 8, 16)])
    rows = {one["steps"]: one for one in data["layouts"]}
    for t, seconds in zip((2, 4, 8, 16), known, strict=True):
        assert rows[t]["seconds"]["value"] == pytest.approx(seconds.value)


def test_costs_of_one_batch_say_nothing_of_another(timed: tuple[Path, Any], tmp_path: Path) -> None:
    words = ("--batch", "128", "--costs", str(timed[0]), "--trainings", "0")
    said = nbyt("advise", LAKE, *words, "--out", str(tmp_path / "advice"), code=2).stderr
    assert "the costs are of a batch of 64, not of 128" in said
    assert "nbyt time ENV --batch 128" in said


def test_a_file_that_is_there_is_replaced_only_when_asked(tmp_path: Path) -> None:
    file = tmp_path / "costs.json"
    file.write_text("mine")
    words = (*COMMAND, "--envs", "4,8", "--out", str(file))
    said = "".join(nbyt(*words, code=StoreError.exit_code).stderr.split())  # however it wraps
    assert f"{file}istherealready" in said and "--force" in said
    assert file.read_text() == "mine" and list(tmp_path.iterdir()) == [file]
    told = nbyt(*words, "--force").stdout
    assert set(costs_from(COSTS.read(file)).timed) == {(4, 16), (8, 8)}
    assert "4x16" in told and "8x8" in told and f"--costs{file}" in "".join(told.split())


def test_where_nothing_can_be_written_nothing_is_timed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def no(*args: Any, **kwargs: Any) -> None:
        raise AssertionError("timed")

    monkeypatch.setattr("nbyt.cli.time.time_layouts", no)
    (tmp_path / "file").write_text("mine")
    (tmp_path / "folder").mkdir()
    for out in (tmp_path / "file" / "costs.json", tmp_path / "folder"):
        words = (*COMMAND, "--envs", "4,8", "--out", str(out), "--force")
        assert main.run(list(words)) == StoreError.exit_code
        said = " ".join(capsys.readouterr().err.split())
        assert "cannot be written" in said or "is a folder" in said


def test_a_missing_folder_is_made(tmp_path: Path) -> None:
    file = tmp_path / "new" / "costs.json"
    nbyt(*COMMAND, "--envs", "4,8", "--out", str(file))
    assert set(costs_from(COSTS.read(file)).timed) == {(4, 16), (8, 8)}


@pytest.mark.parametrize(
    ("envs", "words"),
    [
        ("4,5", "a batch of 64 does not split over 5 envs"),
        ("4,128", "does not split over 128 envs"),
        ("8", "one number of envs says nothing about others"),
        ("8,8", "one number of envs says nothing about others"),
        ("0,8", "--envs"),
        ("few", "--envs"),
    ],
)
def test_numbers_of_envs_that_say_nothing_are_refused(
    tmp_path: Path, envs: str, words: str
) -> None:
    file = tmp_path / "costs.json"
    said = nbyt(*COMMAND, "--envs", envs, "--out", str(file), code=2).stderr
    assert words in said and not file.exists()


def test_an_odd_batch_names_the_numbers_that_it_lacks(tmp_path: Path) -> None:
    """None of the usual numbers of envs divides 45."""
    words = ("time", LAKE, "--batch", "45", "--out", str(tmp_path / "costs.json"))
    assert "give at least two" in nbyt(*words, code=2).stderr
