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
        pair = [stack.enter_context(closing(_worker(task, place))) for place in (0, 1)]
        for number in range(rounds):
            # Two processes of the same program differ by a per cent or two for as long as they
            # live, so they change parts from round to round.
            workers = dict(zip(_NAMES, pair[:: -1 if number % 2 else 1], strict=True))
            for name, took in _round(workers).items():
                seconds[name].append(took)
        probes = [took for worker in pair for took in worker.ask("probes")]
        ends = {worker.ask("fingerprint") for worker in pair}
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


def _round(workers: dict[str, Worker]) -> dict[str, float]:
    """Seconds that the rollouts of one round took; who goes first alternates."""
    took = dict.fromkeys(workers, 0.0)
    for turn in range(EVERY // TURN):
        for name in _NAMES[:: -1 if turn % 2 else 1]:
            took[name] += workers[name].ask("train", TURN, name == "with")
    return took


def _worker(task: Task, place: int) -> Worker:
    return Worker(f"training {place} of {task.env}", task.batch, Training, task)
