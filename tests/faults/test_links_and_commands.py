"""Links at every name that a command writes: it replaces or refuses each, and follows none."""

import os
import shutil
import stat
from collections.abc import Iterator
from pathlib import Path

import msgspec
import pytest
from tests.faults.links import TARGETS, plant, require_links, seen, written
from tests.report.pages.probes.probes_sample import head, training
from tests.studies.small_study import SMALL

from nbyt.cli import main
from nbyt.cli.probe import ProbeOptions, _keep
from nbyt.errors import NbytError, StoreError
from nbyt.integrations.base import BaseProbe
from nbyt.results.probes import ProbeLog
from nbyt.store.files import MARKER
from nbyt.store.formats import read_sealed
from nbyt.store.run import add_record

LAKE = "tabular:FrozenLake-v1"
LEARN = "--minibatch 16 --epochs 1 --network table --quiet"
COMMANDS = {
    "train": f"train {LAKE} --envs 4 --steps 8 --total 64 --save-at 1,2 {LEARN}",
    "dqn": f"train {LAKE} --algo dqn --total 80 --warm-up 64 --minibatch 16 --network 4 --quiet",
    "sweep": f"sweep {LAKE} --batch 32 --layouts 4x8 --total 32 --seeds 2 {LEARN}",
    # So much that something is learnt: then a training is made to explain the answer.
    # It learns something for sure, so that it measures a policy of a training, too.
    "advise": "advise gymnax:CartPole-v1 --batch 256 --steps 8,32 --trainings 1 --costs parallel "
    "--stages 1 --total 20480 --network 16 --learning-rate 0.01 --quiet",
}
REPORTED = ("advise", "sweep", "study", "probes")
UMASK = 0o027


def write(name: str, out: Path, *more: str) -> NbytError | None:
    """Write a folder as its command does; what it was refused with."""
    try:
        if name == "study":
            SMALL.reproduce(SMALL.open_folder(out, quick=True, seed=3), quick=True, seed=3)
        elif name == "probes":
            probe = BaseProbe()
            probe._open_folder(out, msgspec.convert(head(), ProbeLog))
            for record in training(3)["records"]:
                add_record(probe._folder, record)
            probe.write_page()
        else:
            function, bound = main.parse([*COMMANDS[name].split(), "--out", str(out), *more], {})
            function(*bound.args, **bound.kwargs)
    except NbytError as error:
        return error
    return None


@pytest.fixture(scope="module")
def written_once(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder of every kind, each under its name, made with a umask that few have."""
    place = tmp_path_factory.mktemp("written")
    before = os.umask(UMASK)
    try:
        for name in (*COMMANDS, "study", "probes"):
            assert write(name, place / name) is None
    finally:
        os.umask(before)
    return place


@pytest.fixture
def outside(written_once: Path, tmp_path: Path) -> Iterator[Path]:
    """Folders of somebody else, with the same files; nothing in them may change."""
    require_links()
    place = Path(shutil.copytree(written_once, tmp_path / "outside"))
    before = seen(place)
    yield place
    assert seen(place) == before, "a link was followed"


@pytest.fixture
def out(tmp_path: Path) -> Path:
    """Where the links are."""
    return tmp_path / "out"


def _links(out: Path) -> list[Path]:
    return [path for path in sorted(out.rglob("*")) if path.is_symlink()]


def _plant_all(out: Path, twins: Path, *, folders: bool) -> None:
    """Put links in place of all files in a folder, or of all folders that are in it."""
    for name in written(out):
        path = out / name
        if path.is_dir() == folders and path.parent.resolve() == path.parent:
            plant(path, twins / name, "twin")


def _write_till_done(name: str, out: Path, known: Path | None, *more: str) -> list[str]:
    """Give a command until it is through; the links that it refused, one after the other.

    known: where to take what belongs in their place; without, nothing is put there.
    """
    refused: list[str] = []
    while error := write(name, out, *more):
        named = [one for one in _links(out) if f"{one} " in error.message]
        assert isinstance(error, StoreError) and named, error
        link = named[0]
        link.unlink()
        refused.append(str(link.relative_to(out)))
        if known is not None:
            there = known / refused[-1]
            (shutil.copytree if there.is_dir() else shutil.copy2)(there, link)
    return refused


@pytest.mark.parametrize("folders", [False, True], ids=["files", "folders"])
@pytest.mark.parametrize("name", [*COMMANDS, "study", "probes"])
def test_a_command_given_again_follows_no_link(
    written_once: Path, outside: Path, out: Path, name: str, folders: bool
) -> None:
    shutil.copytree(written_once / name, out)
    _plant_all(out, outside / name, folders=folders)
    refused = _write_till_done(name, out, written_once / name)
    assert folders or MARKER.name in refused
    assert folders or not os.path.islink(out / "report.html")


@pytest.mark.parametrize("folders", [False, True], ids=["files", "folders"])
@pytest.mark.parametrize("name", ["train", "dqn"])
def test_a_training_writes_into_no_link(
    written_once: Path, outside: Path, out: Path, name: str, folders: bool
) -> None:
    """Where all that it writes is still to be written."""
    shutil.copytree(written_once / name, out)
    _plant_all(out, outside / name, folders=folders)
    for one in (MARKER.name, "result.json", "checkpoint.json"):
        (out / one).unlink(missing_ok=True)
    shutil.copy(written_once / name / MARKER.name, out)
    (out / "checkpoint.json").symlink_to(outside / name / "result.json")
    refused = _write_till_done(name, out, None)
    assert refused[0] == "checkpoint.json" and ("stage-1" in refused) == folders
    assert written(out) == written(written_once / name) and not _links(out)


@pytest.mark.parametrize(("name", "pattern"), [("advise", "training-*"), ("study", "trainings")])
def test_a_training_inside_a_folder_goes_nowhere_else(
    written_once: Path, out: Path, tmp_path: Path, name: str, pattern: str
) -> None:
    require_links()
    shutil.copytree(written_once / name, out)
    (part,) = (path.name for path in out.glob(pattern))
    shutil.rmtree(out / part)
    for experiment in out.glob("experiment-*"):
        experiment.unlink()
    elsewhere = tmp_path / "elsewhere"
    elsewhere.mkdir()
    (out / part).symlink_to(elsewhere)
    error = write(name, out)
    assert isinstance(error, StoreError) and f"{out / part} is a symlink" in error.message
    assert not list(elsewhere.iterdir())


@pytest.mark.parametrize("folders", [False, True], ids=["files", "folders"])
def test_force_trains_anew_without_the_links(
    written_once: Path, outside: Path, out: Path, folders: bool
) -> None:
    shutil.copytree(written_once / "train", out)
    _plant_all(out, outside / "train", folders=folders)
    if not folders:
        assert _write_till_done("train", out, written_once / "train") != []
        _plant_all(out / "stage-1", outside / "train/stage-1", folders=False)
    assert _write_till_done("train", out, None, "--force", "--seed", "5") == []
    assert written(out) == written(written_once / "train") and not _links(out)


@pytest.mark.parametrize("target", TARGETS)
@pytest.mark.parametrize("name", REPORTED)
def test_a_page_takes_the_place_of_a_link(
    written_once: Path, outside: Path, out: Path, name: str, target: str
) -> None:
    shutil.copytree(written_once / name, out)
    specs = {"twin": "report.html", "other": ".", "nothing": "no-report.html"}
    for page, more in ((out / "report.html", []), (out / "x.html", ["--out", str(out / "x.html")])):
        page.unlink(missing_ok=True)
        page.symlink_to(outside / name / specs[target])
        assert main.run(["report", str(out), *more]) == 0
        assert not page.is_symlink() and "<html" in page.read_text()[:200]


def test_folders_that_the_user_names_may_be_links(
    written_once: Path, out: Path, tmp_path: Path
) -> None:
    require_links()
    shutil.copytree(written_once / "sweep", out)
    (tmp_path / "runs").symlink_to(out.parent)
    (tmp_path / "named").symlink_to(out)
    (out / "report.html").unlink()
    assert write("sweep", tmp_path / "named") is None
    assert write("sweep", tmp_path / "runs" / "out" / ".." / "out") is None
    assert main.run(["report", str(tmp_path / "named")]) == 0
    assert (out / "report.html").is_file() and (tmp_path / "named").is_symlink()


def test_a_measurement_takes_the_place_of_a_link(outside: Path, out: Path) -> None:
    out.mkdir()
    (out / "measurement.json").symlink_to(outside / "advise/advice.json")
    _keep({"env": "x"}, ProbeOptions(out=out))
    assert read_sealed(out / "measurement.json", kind="measurement")["facts"] == {"env": "x"}
    with pytest.raises(StoreError, match="cannot be written"):
        _keep({"env": "x"}, ProbeOptions(out=out / "measurement.json"))


def test_everything_that_commands_write_respects_the_umask(written_once: Path) -> None:
    for path in written_once.rglob("*"):
        whole = 0o777 if path.is_dir() else 0o666
        assert stat.S_IMODE(path.stat().st_mode) == whole & ~UMASK, path
