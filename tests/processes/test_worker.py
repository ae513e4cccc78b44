"""A worker answers its tasks; one that leaves, hangs or takes too long is ended and named."""

import os
import sys
from collections.abc import Iterator
from pathlib import Path

import psutil
import pytest

from nbyt.processes.reaper import ProcessReaper
from nbyt.processes.worker import WorkerProcess, basic_setup, decisive

HERE = str(Path(__file__).parent)


@pytest.fixture
def worker() -> Iterator[WorkerProcess]:
    with ProcessReaper() as reaper:
        setup = basic_setup([HERE, *sys.path], step_limit=0.1) | {"factor": 3}
        worker = WorkerProcess(reaper, "toy_worker", setup)
        yield worker
        worker.end()


def test_tasks_are_answered_one_after_the_other(worker: WorkerProcess) -> None:
    heard = []
    for number in (2, 5):
        answer = worker.finish({"deed": "", "number": number}, 60, heard.append)
        assert answer == {"answers": [3 * number]}
        assert worker.heard == {"progress": 3}


@pytest.mark.skipif(os.name == "nt", reason="Windows numbers its files in another way")
def test_one_that_closes_its_pipes_is_cut_off(worker: WorkerProcess) -> None:
    assert "cut_off" in worker.finish({"deed": "close"}, 60)


def test_one_that_leaves_gives_its_exit_code(worker: WorkerProcess) -> None:
    assert worker.finish({"deed": "leave"}, 60)["ended"] == 3


@pytest.mark.parametrize(
    ("deed", "why", "words"), [("hang", "silent", "in step"), ("work", "overlong", "")]
)
def test_one_that_does_not_come_back_is_ended(
    worker: WorkerProcess, deed: str, why: str, words: str
) -> None:
    worker.finish({"deed": ""}, 60)  # it has begun, so that the limit is one of the task alone
    answer = worker.finish({"deed": deed}, 0.5 if deed == "work" else None)
    assert why in answer and answer["state"].words == words
    assert not psutil.pid_exists(worker._process.pid)


def test_what_may_change_numbers_comes_from_the_driver(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XLA_FLAGS", "--mine")
    assert basic_setup([], 1.0)["environment"]["XLA_FLAGS"] == "--mine"
    assert decisive("JAX_ENABLE_X64") and not decisive("HOME")
