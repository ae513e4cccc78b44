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
from nbyt.store.atomic import write_text
from nbyt.store.files import (
    ADVICE,
    CELL,
    CHECKPOINT,
    COSTS,
    EXPERIMENT,
    FAILED,
    LOOK,
    MARKER,
    MEASUREMENT,
    METRICS,
    PAGE,
    PROBES,
    RESULT,
    STAGE,
    STUDY,
    STUDY_TRAINING,
    SWEEP,
    TABLE,
    TIMES,
    TRAINING,
    UNTRAINED,
)
from nbyt.store.paths import locked
from nbyt.store.run import Folder, add_record, load_stage, open_run, read_probes, verify

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
    run, arrays = Folder(out), {"w": np.full(4, number)}
    return Uses(
        [lambda: open_run(out, IDENTITY, inner=inner)],
        [
            lambda: run.read(CHECKPOINT),
            lambda: run.read(RESULT),
            lambda: run.read(METRICS),
            lambda: load_stage(run.path_of(STAGE, 1)),
            lambda: load_stage(run.path_of(STAGE, 1) / "stage.json"),
        ],
        [
            lambda: run.write(CHECKPOINT, (arrays, {"update": number})),
            lambda: run.write(STAGE, (arrays, {"number": number}), 1),
            lambda: run.write(METRICS, [{"update": number}]),
            lambda: run.write(RESULT, {"share": number}),
        ],
    )


def _advice(out: Path, number: int = 0) -> Uses:
    advice, arrays = Folder(out), {"a": np.full(3, number)}
    own = Uses(
        [lambda: open_run(out, IDENTITY, "advise")],
        [
            lambda: advice.read(COSTS),
            lambda: advice.read(MEASUREMENT, 1),
            lambda: advice.read(UNTRAINED),
            lambda: advice.read(CELL, "4x16-seed-0"),
            lambda: advice.read(FAILED, "4x16-seed-1"),
            lambda: advice.read(LOOK, 1, 32),
            lambda: advice.require(ADVICE),
        ],
        [
            lambda: advice.write(COSTS, {"timed": [number]}),
            lambda: advice.write(MEASUREMENT, (arrays, {"env": number}), 1),
            lambda: advice.write(UNTRAINED, {"number": number}),
            lambda: advice.write(CELL, {"number": number}, "4x16-seed-0"),
            lambda: advice.write(FAILED, {"number": number}, "4x16-seed-1"),
            lambda: advice.write(LOOK, {"number": number}, 1, 32),
            lambda: advice.write(ADVICE, {"number": number}),
            lambda: write_text(out / PAGE.name, f"{number}"),
        ],
    )
    return own.with_part(_run(advice.path_of(TRAINING, 4, 16), number, inner=True))


def _sweep(out: Path, number: int = 0) -> Uses:
    sweep = Folder(out)
    return Uses(
        [lambda: open_run(out, IDENTITY, "sweep")],
        [
            lambda: sweep.read(CELL, "4x8-seed-0"),
            lambda: sweep.read(FAILED, "4x8-seed-1"),
            lambda: sweep.read(TIMES),
            lambda: sweep.require(SWEEP),
        ],
        [
            lambda: sweep.write(FAILED, {"number": number}, "4x8-seed-0"),
            lambda: sweep.write(CELL, {"number": number}, "4x8-seed-0"),
            lambda: sweep.remove(FAILED, "4x8-seed-0"),
            lambda: sweep.write(FAILED, {"number": number}, "4x8-seed-1"),
            lambda: sweep.write(TIMES, {"number": number}),
            lambda: sweep.write(TABLE, f"{number}"),
            lambda: sweep.write(SWEEP, {"number": number}),
            lambda: write_text(out / PAGE.name, f"{number}"),
        ],
    )


def _study(out: Path, number: int = 0) -> Uses:
    study = Folder(out)
    training = study.path_of(STUDY_TRAINING, "lake")

    def lock() -> None:
        with locked(training.with_name("lake.lock")):
            pass

    own = Uses(
        [lambda: open_run(out, IDENTITY, "reproduce")],
        [lambda: study.read(EXPERIMENT, "visits"), lambda: study.require(STUDY)],
        [
            lock,
            lambda: study.write(EXPERIMENT, {"number": number}, "visits"),
            lambda: study.write(STUDY, {"number": number}),
            lambda: write_text(out / PAGE.name, f"{number}"),
        ],
    )
    return own.with_part(_run(training, number, inner=True))


def _probes(out: Path, number: int = 0) -> Uses:
    probes = Folder(out)
    return Uses(
        [lambda: open_run(out, IDENTITY, "probe a training")],
        [lambda: read_probes(out)],
        [
            lambda: probes.write(PROBES, {"number": number}),
            lambda: add_record(probes, {"update": 1, "number": number}),
            lambda: add_record(probes, {"update": 2, "number": number}),
            lambda: write_text(out / PAGE.name, f"{number}"),
        ],
    )


KINDS: dict[str, Callable[..., Uses]] = {
    "train": _run,
    "advise": _advice,  # holds a training
    "sweep": _sweep,
    "reproduce": _study,
    "probe a training": _probes,
}


@pytest.fixture(autouse=True)
def no_waiting_for_the_disk(monkeypatch: pytest.MonkeyPatch) -> None:
    """Thousands of files are written here; whether they survive power loss is tested elsewhere."""
    monkeypatch.setattr(os, "fsync", lambda descriptor: None)


def _filled(kind: str, out: Path, number: int = 0) -> Path:
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


def _each_link(kind: str, tmp_path: Path, target: str) -> Iterator[tuple[Path, str]]:
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
def test_no_link_is_followed_by_a_write(tmp_path: Path, kind: str, target: str) -> None:
    for out, name in _each_link(kind, tmp_path, target):
        uses = KINDS[kind](out, 1)
        results = _results([*uses.opens, *uses.writes])
        refused = [one for one in results if isinstance(one, StoreError)]
        assert refused or not (out / name).is_symlink(), f"{name} was neither refused nor replaced"


@pytest.mark.parametrize("kind", KINDS)
def test_no_link_is_followed_by_a_read(tmp_path: Path, kind: str) -> None:
    for out, name in _each_link(kind, tmp_path, "twin"):
        for result in (*_results(KINDS[kind](out).reads), verify(out)):
            assert str(OUTSIDE) not in repr(result), f"{name} was read"


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("target", TARGETS)
def test_force_removes_links_and_not_what_they_point_at(
    tmp_path: Path, kind: str, target: str
) -> None:
    for out, name in _each_link(kind, tmp_path, target):
        if name == MARKER.name:  # a marker that is a link proves nothing
            with pytest.raises(StoreError, match="is a symlink"):
                open_run(out, {"command": "other"}, kind, force=True)
        elif not name.endswith(".lock"):  # locks stay, another process may wait for them
            open_run(out, {"command": "other"}, kind, force=True)
            assert not (out / name).is_symlink(), name


@pytest.mark.parametrize("kind", KINDS)
def test_folders_in_place_of_files_are_refused_in_words(tmp_path: Path, kind: str) -> None:
    filled = _filled(kind, tmp_path / "filled")
    for name in written(filled):
        if (filled / name).is_file():
            out = Path(shutil.copytree(filled, tmp_path / "out"))
            (out / name).unlink()
            (out / name).mkdir()
            (out / name / "theirs.txt").write_text("x")
            uses = KINDS[kind](out, 1)
            _results([*uses.opens, *uses.reads, *uses.writes])
            _results([lambda out=out: open_run(out, {"command": "other"}, kind, force=True)])
            assert (out / name / "theirs.txt").read_text() == "x"
            shutil.rmtree(out)


@pytest.mark.parametrize("umask", [0o000, 0o022, 0o027, 0o077])
@pytest.mark.parametrize("kind", KINDS)
def test_modes_are_what_the_umask_leaves(tmp_path: Path, kind: str, umask: int) -> None:
    before = os.umask(umask)
    try:
        out = _filled(kind, tmp_path / "above" / "out")
    finally:
        os.umask(before)
    for path in (out.parent, out, *out.rglob("*")):
        whole = 0o777 if path.is_dir() else 0o666
        assert stat.S_IMODE(path.stat().st_mode) == whole & ~umask, path
