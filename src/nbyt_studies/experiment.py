"""Experiments of a study: their context, and several at once in worker processes."""

import hashlib
import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, replace
from importlib import import_module
from pathlib import Path
from typing import Any, TypeVar

from nbyt.collect import Progress
from nbyt.envs import resolve
from nbyt.envs.protocol import DeviceEnv, HostEnv
from nbyt.errors import NbytError, TrainingError, error_from
from nbyt.layout import Layout
from nbyt.policy.actor_critic import Stage
from nbyt.processes.heartbeat import Heartbeat
from nbyt.processes.reaper import ProcessReaper
from nbyt.processes.worker import Bell, Say, WorkerProcess, basic_setup, serve
from nbyt.results.values import Data
from nbyt.store.atomic import canonical
from nbyt.store.files import EXPERIMENT, METRICS, RESULT, STUDY_TRAINING
from nbyt.store.manifest import manifest
from nbyt.store.paths import locked
from nbyt.store.run import Folder, open_run
from nbyt.store.text import slug
from nbyt.training import hardware
from nbyt.training.algorithms.ppo import initial_learner
from nbyt.training.algorithms.registry import Row
from nbyt.training.loop import Watch, kept_stages, train
from nbyt.training.plan import PPOPlan, PPOSettings

Choice = TypeVar("Choice")


def env_name(id: str) -> str:
    """Return an env's id without its suite."""
    return id.partition(":")[2]


@dataclass(frozen=True)
class Training:
    """A run: its stages in order, each after so many updates, and the row of every update."""

    env: DeviceEnv | HostEnv
    layout: Layout
    stages: tuple[Stage, ...]
    rows: tuple[Row, ...]

    def at(self, updates: int) -> Stage:
        """Return the stage after so many updates."""
        return next(one for one in self.stages if one.facts["updates"] == updates)


@dataclass(frozen=True)
class Context:
    """What an experiment is given. Its results depend on `seed` and `quick` alone."""

    folder: Folder
    seed: int
    quick: bool
    progress: Progress

    def pick(self, quick: Choice, full: Choice) -> Choice:
        """Return one of two sizes: that of the quick study or that of the full one."""
        return quick if self.quick else full

    def named(self, words: str) -> "Context":
        """Return the same context with progress that begins with these words."""
        return replace(self, progress=self.saying(words))

    def saying(self, words: str) -> Progress:
        """Return a progress callback whose texts begin with these words."""
        return lambda what, done, total: self.progress(f"{words}, {what}", done, total)

    def trained(
        self,
        env: str | DeviceEnv | HostEnv,
        layout: Layout,
        *,
        stages: tuple[int, ...],
        settings: PPOSettings | None = None,
        seed: int = 0,
    ) -> Training:
        """Return a run with stages after these updates, the last of which ends it; train it once.

        seed: counted from the study's own.
        """
        resolved = resolve(env)
        last = max(stages)
        plan = PPOPlan(
            resolved.id,
            layout,
            last * layout.batch,
            self.seed + seed,
            settings or PPOSettings(),
            tuple(sorted(stages)),
        )
        words = f"{env_name(resolved.id)}-{layout.envs}x{layout.steps}-{plan.seed}"
        # Runs that differ in anything have folders of their own.
        mark = hashlib.sha256(canonical(plan.identity())).hexdigest()[:8]
        made_by = manifest("reproduce", plan.identity(), plan.seed, hardware.describe())
        folder = self.folder.path_of(STUDY_TRAINING, slug(f"{words}-{mark}"))
        # Another experiment may want the same run at the same time.
        with locked(folder.with_name(f"{folder.name}.lock")):
            run = open_run(folder, plan.identity(), manifest=made_by, inner=True)
            if run.read(RESULT) is None:
                watch = Watch(self.progress, f"training {words}", last)
                train(plan, run, (watch,), env=resolved)
        kept = tuple(kept_stages(plan, run))
        return Training(resolved, layout, kept, tuple(run.read(METRICS) or []))

    def untrained(
        self,
        env: str | DeviceEnv | HostEnv,
        layout: Layout,
        settings: PPOSettings | None = None,
        seed: int = 0,
    ) -> Stage:
        """Return the stage before the first update of such a run."""
        resolved = resolve(env)
        settings = settings or PPOSettings()
        plan = PPOPlan(resolved.id, layout, layout.batch, self.seed + seed, settings, (1,))
        policy, learner = initial_learner(plan, resolved)
        facts: dict[str, Any] = {
            "env": resolved.id,
            "updates": 0,
            "steps": 0,
            "layout": layout.as_dict(),
            "settings": settings.as_dict(),
        }
        return Stage(policy, learner.params, facts)


@dataclass(frozen=True)
class Experiment:
    """A measurement whose result is plain data: numbers, texts, lists and dicts.

    run: a function at the top level of its module, so that a worker can import it by name. alone:
    it measures time, so no other experiment may run at the same time.
    """

    name: str
    words: str
    run: Callable[[Context], Data]
    alone: bool = False


# Run experiments in worker processes, several at once; driver and workers exchange JSON lines.
#
# The programs of RL are too small to use two cores by themselves, so two experiments at once take
# little longer than one. Results do not depend on which process computes them.

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
