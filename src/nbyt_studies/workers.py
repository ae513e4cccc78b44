"""Experiments side by side, in processes of their own.

The programs of RL are too small to use two cores by themselves, so two experiments at once take
little longer than one. What an experiment finds does not depend on where it is done.
"""

import multiprocessing
import queue
import signal
import threading
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from multiprocessing.process import BaseProcess
from pathlib import Path
from typing import Any

from nbyt.errors import NbytError, TrainingError
from nbyt.processes.reaper import ProcessReaper
from nbyt.store.files import EXPERIMENT
from nbyt.store.run import Folder
from nbyt.system import lead_group
from nbyt.train import hardware
from nbyt_studies.bench import Bench, Progress
from nbyt_studies.study import Experiment

_PATIENCE = 0.5  # seconds between two looks whether all workers are still alive


def done_side_by_side(
    experiments: Sequence[Experiment],
    folder: Folder,
    *,
    quick: bool,
    seed: int,
    workers: int,
    device: str,
    progress: Progress,
) -> Iterator[str]:
    """Names of experiments, each as soon as its file is written; an error ends all workers.

    Now and then an empty name, so that whoever listens can stop.
    """
    # Fresh interpreters: a copy of one in which JAX has threads could hang.
    context = multiprocessing.get_context("spawn")
    tasks, heard = context.Queue(), context.Queue()
    for experiment in experiments:
        tasks.put(experiment)
    for _ in range(workers):
        tasks.put(None)
    given = (tasks, heard, folder.path, quick, seed, device)
    with _ended([context.Process(target=_work, args=given) for _ in range(workers)]) as processes:
        left = {experiment.name for experiment in experiments}
        while left:
            kind, *said = _next(heard, processes)
            if kind == "nothing":
                yield ""
            elif kind == "progress":
                progress(*said)
            elif kind == "failed":
                raise _error(*said)
            else:
                left.discard(said[0])
                yield said[0]


@contextmanager
def _ended(processes: list[BaseProcess]) -> Iterator[list[BaseProcess]]:
    """The processes, started; none of them is left behind, not even where this one is killed."""
    with ProcessReaper() as reaper:
        with _deaf_to_interrupts():
            for process in processes:
                process.start()
                assert process.pid is not None
                reaper.keep(process.pid)
        try:
            yield processes
        finally:
            for process in processes:
                process.terminate()
            for process in processes:
                process.join()
                assert process.pid is not None
                reaper.release(process.pid)


@contextmanager
def _deaf_to_interrupts() -> Iterator[None]:
    """While it lasts, processes are started that Ctrl-C does not reach: this one answers it."""
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    before = signal.signal(signal.SIGINT, signal.SIG_IGN)
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, before)


def _next(heard: Any, processes: Sequence[BaseProcess]) -> tuple[Any, ...]:
    """What is heard next, or "nothing" for a while; an error where nothing more will come."""
    codes = [process.exitcode for process in processes]
    try:
        return heard.get(timeout=_PATIENCE)
    except queue.Empty:
        if any(codes) or None not in codes:
            raise TrainingError(
                f"the workers of the study ended with codes {codes}",
                where="reproduce",
                fix="give the same command again to go on; with --workers 1 less memory is needed",
            ) from None
    return ("nothing",)


def _work(tasks: Any, heard: Any, path: Path, quick: bool, seed: int, device: str) -> None:
    """Experiments from the queue, until it says None."""
    lead_group()  # for the reaper
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # which Windows does not hand down
    hardware.prepare(device, quiet=True)
    folder = Folder(path)

    def say(what: str, done: int, total: int) -> None:
        heard.put(("progress", what, done, total))

    while (experiment := tasks.get()) is not None:
        try:
            bench = Bench(folder, seed, quick, say).named(experiment.words)
            folder.write(EXPERIMENT, experiment.run(bench), experiment.name)
        except NbytError as error:
            heard.put(("failed", type(error), error.as_dict()))
            return
        heard.put(("done", experiment.name))


def _error(kind: type[NbytError], said: dict[str, str]) -> NbytError:
    return kind(said["message"], where=said["where"], fix=said["fix"])
