"""The time of a training with the probe over that without, in rounds that take turns."""

from contextlib import ExitStack, closing
from typing import Any

from benchmarks.callback.training import Task, Training
from benchmarks.timing.rounds import median, ratios
from benchmarks.timing.worker import Worker

# The default of GradientProbe: so many rollouts, a round, hold one measurement.
EVERY = 10
# Turns are short, for the machine wanders within a round too; each learn() has a cost of its own.
TURN = 2
TARGET = 1.05
_NAMES = ("without", "with")


def overhead(task: Task, *, rounds: int) -> dict[str, Any]:
    """Seconds of every round of both, their ratios, and the seconds of single measurements."""
    seconds: dict[str, list[float]] = {name: [] for name in _NAMES}
    with ExitStack() as stack:
        workers = {name: stack.enter_context(closing(_worker(task, name))) for name in _NAMES}
        for number in range(rounds):
            for name, took in _round(workers, number).items():
                seconds[name].append(took)
        probes = workers["with"].ask("probes")
        ends = {worker.ask("fingerprint") for worker in workers.values()}
    assert len(probes) == rounds, "a round holds one measurement"
    ratio = median(ratios(seconds["with"], seconds["without"]))
    return {
        "env": task.env,
        "envs": task.envs,
        "steps": task.steps,
        "seconds": seconds,
        "ratio": ratio.as_dict(),
        "target": TARGET,
        "reached": ratio.value <= TARGET,
        "probe_seconds": probes,
        "probe": median(probes).as_dict(),
        "same_weights": len(ends) == 1,
    }


def _round(workers: dict[str, Worker], number: int) -> dict[str, float]:
    """Seconds that the rollouts of one round took; who goes first alternates."""
    took = dict.fromkeys(workers, 0.0)
    for turn in range(EVERY // TURN):
        for name in _NAMES[:: -1 if (number + turn) % 2 else 1]:
            took[name] += workers[name].go(TURN)
    return took


def _worker(task: Task, name: str) -> Worker:
    return Worker(f"{task.env} {name}", task.batch, _make, task, name == "with")


def _make(task: Task, probed: bool) -> Training:
    return Training(task, probed=probed)
