"""Run experiments in worker processes, several at once; driver and workers exchange JSON lines.

The programs of RL are too small to use two cores by themselves, so two experiments at once take
little longer than one. Results do not depend on which process computes them.
"""

import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack
from importlib import import_module
from pathlib import Path
from typing import Any

from nbyt.errors import NbytError, TrainingError, error_from
from nbyt.processes.heartbeat import Heartbeat
from nbyt.processes.reaper import ProcessReaper
from nbyt.processes.worker import Bell, Say, WorkerProcess, basic_setup, serve
from nbyt.store.files import EXPERIMENT
from nbyt.store.run import Folder
from nbyt.train import hardware
from nbyt_studies.experiment import Context, Experiment

_PAUSE = 0.5  # seconds between two calls of `progress`, so that the user can interrupt
_STEP_LIMIT = 60.0  # of a watched env; experiments use built-in envs, which are not watched


def run_in_workers(
    experiments: Sequence[Experiment], context: Context, *, workers: int, device: str
) -> Iterator[str]:
    """Yield the name of each experiment when its file is written; an error ends all workers.

    An empty name is yielded now and then, so that the caller can stop.
    """
    setup = {
        **basic_setup(sys.path, _STEP_LIMIT),
        "folder": str(context.folder.path),
        "quick": context.quick,
        "seed": context.seed,
        "device": device,
    }
    waiting = list(reversed(experiments))
    bell = Bell()
    busy: dict[WorkerProcess, str] = {}
    with ProcessReaper() as reaper, ExitStack() as stack:
        for _ in range(workers):
            worker = WorkerProcess(reaper, __name__, setup, bell)
            stack.callback(worker.end)
            busy[worker] = _give(worker, waiting)
        while busy:
            bell.wait(_PAUSE)
            yield ""
            for worker, name in list(busy.items()):
                answer = worker.look()
                if worker.heard:
                    context.progress(*worker.heard.pop("progress"))
                if answer is not None:
                    _raise_error(answer)
                    yield name
                    del busy[worker]
                    if waiting:
                        busy[worker] = _give(worker, waiting)


def _give(worker: WorkerProcess, waiting: list[Experiment]) -> str:
    experiment = waiting.pop()
    run = experiment.run
    where = f"{run.__module__}:{run.__qualname__}"
    worker.give({"name": experiment.name, "words": experiment.words, "run": where})
    return experiment.name


def _raise_error(answer: dict[str, Any]) -> None:
    """Raise the error that ended an experiment or its worker; return if there was none."""
    if "answers" not in answer:
        how = f"ended with code {answer['ended']}" if "ended" in answer else "closed its pipe"
        raise TrainingError(
            f"a worker of the study {how}",
            where="reproduce",
            fix="give the same command again to go on; with --workers 1 less memory is needed",
        )
    for error in answer["answers"]:
        raise error_from(error)


def main(heartbeat: Heartbeat) -> None:
    """Run the experiments that the driver asks for; this is a worker's process."""

    def begin(setup: dict[str, Any], say: Say) -> Callable[[dict[str, Any]], None]:
        hardware.prepare(setup["device"], quiet=True)
        context = Context(
            Folder(Path(setup["folder"])),
            setup["seed"],
            setup["quick"],
            lambda *progress: say({"progress": progress}),
        )
        return lambda task: say({"answers": _run(context, **task)})

    serve(begin)


def _run(context: Context, name: str, words: str, run: str) -> list[dict[str, str]]:
    """Run an experiment and save its data; return the error if there was one."""
    module, _, function = run.partition(":")
    try:
        data = getattr(import_module(module), function)(context.named(words))
        context.folder.write(EXPERIMENT, data, name)
    except NbytError as error:
        return [error.as_facts()]
    return []
