"""A link at any name that a folder's class writes: replaced, removed or refused, never followed."""

import os
import shutil
import stat
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path
from typing import NamedTuple

import numpy as np
import pytest
from tests.faults.links import TARGETS, plant, require_links, seen, written

from nbyt.errors import StoreError
from nbyt.store.advice import PAGE, AdviceFolder, read_advice
from nbyt.store.atomic import write_text
from nbyt.store.folder import MARKER, RunFolder, load_stage
from nbyt.store.paths import locked
from nbyt.store.probes import ProbesFolder, read_probes
from nbyt.store.run import open_as, open_run, verify
from nbyt.store.study import StudyFolder, read_study
from nbyt.store.sweep import SweepFolder, read_sweep

IDENTITY = {"command": "test"}
OUTSIDE = 777  # a number that stands in files outside only
Calls = list[Callable[[], object]]


class Uses(NamedTuple):
    """All that is done with a folder: it is opened, read and written."""

    opens: Calls
    reads: Calls
    writes: Calls

    def with_part(self, part: "Uses") -> "Uses":
        """The same with a folder inside it, which is opened before anything is written there."""
        reads: Calls = [partial(_after, part.opens, read) for read in part.reads]
        return Uses(self.opens, self.reads + reads, self.writes + part.opens + part.writes)


def _after(opens: Calls, read: Callable[[], object]) -> object:
    for call in opens:
        call()
    return read()


def _run(out: Path, number: int = 0, *, inner: bool = False) -> Uses:
    run, arrays = RunFolder(out), {"w": np.full(4, number)}
    return Uses(
        [lambda: open_run(out, IDENTITY, inner=inner)],
        [
            run.load_checkpoint,
            run.read_result,
            run.read_metrics,
            lambda: load_stage(run.stage_path(1)),
            lambda: load_stage(run.stage_path(1) / "stage.json"),
        ],
        [
            lambda: run.save_checkpoint(arrays, {"update": number}),
            lambda: run.save_stage(1, arrays, {"number": number}),
            lambda: run.write_metrics([{"update": number}]),
            lambda: run.write_result({"share": number}),
        ],
    )


def _advice(out: Path, number: int = 0, *, inner: bool = False) -> Uses:
    advice, arrays = AdviceFolder(out), {"a": np.full(3, number)}
    own = Uses(
        [lambda: open_as(AdviceFolder, out, IDENTITY, inner=inner)],
        [
            advice.load_costs,
            lambda: advice.load_measurement(1),
            lambda: advice.load_returns(4, 16),
            lambda: advice.load_look(1, 32),
            lambda: read_advice(out),
        ],
        [
            lambda: advice.save_costs({"timed": [number]}),
            lambda: advice.save_measurement(1, arrays, {"env": number}),
            lambda: advice.save_returns(4, 16, [float(number)]),
            lambda: advice.save_look(1, 32, {"number": number}),
            lambda: advice.write_advice({"number": number}),
            lambda: write_text(out / PAGE, f"{number}"),
        ],
    )
    return own.with_part(_run(advice.training(4, 16), number, inner=True))


def _sweep(out: Path, number: int = 0) -> Uses:
    sweep = SweepFolder(out)
    own = Uses(
        [lambda: open_as(SweepFolder, out, IDENTITY)],
        [
            lambda: sweep.load_cell("4x8-seed-0"),
            lambda: sweep.load_failure("4x8-seed-1"),
            sweep.load_times,
            lambda: read_sweep(out),
        ],
        [
            lambda: sweep.save_failure("4x8-seed-0", {"number": number}),
            lambda: sweep.save_cell("4x8-seed-0", {"number": number}),
            lambda: sweep.save_failure("4x8-seed-1", {"number": number}),
            lambda: sweep.save_times({"number": number}),
            lambda: sweep.write_table(f"{number}"),
            lambda: sweep.write_sweep({"number": number}),
            lambda: write_text(out / PAGE, f"{number}"),
        ],
    )
    return own.with_part(_advice(sweep.advice, number, inner=True))


def _study(out: Path, number: int = 0) -> Uses:
    study = StudyFolder(out)
    training = study.training("lake")

    def lock() -> None:
        with locked(training.with_name("lake.lock")):
            pass

    own = Uses(
        [lambda: open_as(StudyFolder, out, IDENTITY)],
        [lambda: study.load_experiment("visits"), lambda: read_study(out)],
        [
            lock,
            lambda: study.save_experiment("visits", {"number": number}),
            lambda: study.write_study({"number": number}),
            lambda: write_text(out / PAGE, f"{number}"),
        ],
    )
    return own.with_part(_run(training, number, inner=True))


def _probes(out: Path, number: int = 0) -> Uses:
    probes = ProbesFolder(out)
    return Uses(
        [lambda: open_as(ProbesFolder, out, IDENTITY)],
        [lambda: read_probes(out)],
        [
            lambda: probes.write_log({"number": number}),
            lambda: probes.add({"update": 1, "number": number}),
            lambda: probes.add({"update": 2, "number": number}),
            lambda: write_text(out / PAGE, f"{number}"),
        ],
    )


KINDS: dict[type[RunFolder], Callable[..., Uses]] = {
    RunFolder: _run,
    SweepFolder: _sweep,  # holds an advice, which holds a training
    StudyFolder: _study,
    ProbesFolder: _probes,
}


@pytest.fixture(autouse=True)
def no_waiting_for_the_disk(monkeypatch: pytest.MonkeyPatch) -> None:
    """Thousands of files are written here; whether they survive power loss is tested elsewhere."""
    monkeypatch.setattr(os, "fsync", lambda descriptor: None)


def _filled(kind: type[RunFolder], out: Path, number: int = 0) -> Path:
    """A folder of that kind with all that it can hold."""
    uses = KINDS[kind](out, number)
    for call in (*uses.opens, *uses.writes):
        call()
    return out


def _results(calls: Calls) -> list[object]:
    """What came of each call, or the error where it was refused."""
    found = []
    for call in calls:
        try:
            found.append(call())
        except StoreError as error:
            found.append(error)
    return found


def _each_link(kind: type[RunFolder], tmp_path: Path, target: str) -> Iterator[tuple[Path, str]]:
    """Folders of that kind with a link at one of its names each; nothing outside may change."""
    require_links()
    filled = _filled(kind, tmp_path / "filled")
    other = _filled(kind, tmp_path / "other", OUTSIDE)
    for name in written(filled):
        if not os.path.lexists(other / name):
            continue  # the tensors of a checkpoint, named after their hash
        out = Path(shutil.copytree(filled, tmp_path / "out", symlinks=True))
        outside = Path(shutil.copytree(other, tmp_path / "outside"))
        plant(out / name, outside / name, target)
        before = seen(outside)
        yield out, name
        assert seen(outside) == before, f"{name} was followed"
        shutil.rmtree(out)
        shutil.rmtree(outside)


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("target", TARGETS)
def test_no_link_is_followed_by_a_write(tmp_path: Path, kind: type[RunFolder], target: str) -> None:
    for out, name in _each_link(kind, tmp_path, target):
        uses = KINDS[kind](out, 1)
        results = _results([*uses.opens, *uses.writes])
        refused = [one for one in results if isinstance(one, StoreError)]
        assert refused or not (out / name).is_symlink(), f"{name} was neither refused nor replaced"


@pytest.mark.parametrize("kind", KINDS)
def test_no_link_is_followed_by_a_read(tmp_path: Path, kind: type[RunFolder]) -> None:
    for out, name in _each_link(kind, tmp_path, "twin"):
        for result in (*_results(KINDS[kind](out).reads), verify(out)):
            assert str(OUTSIDE) not in repr(result), f"{name} was read"


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("target", TARGETS)
def test_force_removes_links_and_not_what_they_point_at(
    tmp_path: Path, kind: type[RunFolder], target: str
) -> None:
    for out, name in _each_link(kind, tmp_path, target):
        if name == MARKER:  # a marker that is a link proves nothing
            with pytest.raises(StoreError, match="is a symlink"):
                open_as(kind, out, {"command": "other"}, force=True)
        elif not name.endswith(".lock"):  # locks stay, another process may wait for them
            open_as(kind, out, {"command": "other"}, force=True)
            assert not (out / name).is_symlink(), name


@pytest.mark.parametrize("kind", KINDS)
def test_folders_in_place_of_files_are_refused_in_words(
    tmp_path: Path, kind: type[RunFolder]
) -> None:
    filled = _filled(kind, tmp_path / "filled")
    for name in written(filled):
        if (filled / name).is_file():
            out = Path(shutil.copytree(filled, tmp_path / "out"))
            (out / name).unlink()
            (out / name).mkdir()
            (out / name / "theirs.txt").write_text("x")
            uses = KINDS[kind](out, 1)
            _results([*uses.opens, *uses.reads, *uses.writes])
            _results([lambda out=out: open_as(kind, out, {"command": "other"}, force=True)])
            assert (out / name / "theirs.txt").read_text() == "x"
            shutil.rmtree(out)


@pytest.mark.parametrize("umask", [0o000, 0o022, 0o027, 0o077])
@pytest.mark.parametrize("kind", KINDS)
def test_modes_are_what_the_umask_leaves(tmp_path: Path, kind: type[RunFolder], umask: int) -> None:
    before = os.umask(umask)
    try:
        out = _filled(kind, tmp_path / "above" / "out")
    finally:
        os.umask(before)
    for path in (out.parent, out, *out.rglob("*")):
        whole = 0o777 if path.is_dir() else 0o666
        assert stat.S_IMODE(path.stat().st_mode) == whole & ~umask, path
