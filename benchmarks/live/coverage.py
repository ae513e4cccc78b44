"""Independent batches of a frozen policy, each measured alone, and how often it is right."""

from collections.abc import Iterator
from dataclasses import fields
from typing import Any

import numpy as np

from benchmarks.calibration.gate import Interval, judge
from benchmarks.calibration.sampler import Sampler
from benchmarks.live.cases import GRADIENTS, Case, truths
from nbyt.gradients.engines.own import StageEngine
from nbyt.gradients.spec import fragment_advantages
from nbyt.measure.live import BatchMeasurement, LiveBatch, Loss, measure_batch, pieces
from nbyt.rng import numpy_stream
from nbyt.stats.summary import BatchEstimates

FIELDS = tuple(field.name for field in fields(BatchEstimates))
_LOSS = Loss(normalise=False)


def covered(case: Case, *, batches: int, seed: int) -> dict[str, Any]:
    """What the gate says of every field of both gradients."""
    found: dict[tuple[str, str], list[Interval]] = {
        (name, field): [] for name in GRADIENTS for field in FIELDS
    }
    for measured in _measured(case, batches, seed):
        for (name, field), intervals in found.items():
            one = getattr(measured.gradients[name], field)
            intervals.append(Interval(one.value, one.low, one.high, one.approximate))
    known, layout = truths(case), case.layout
    cuts = pieces(layout.envs, layout.steps)
    return {
        "control": case.name,
        "envs": layout.envs,
        "steps": layout.steps,
        "units": layout.envs * cuts,
        "unit_steps": layout.steps // cuts,
        "batches": batches,
        "gates": [
            {"gradient": name, "field": field, **_judged(intervals, known[name, field], field)}
            for (name, field), intervals in found.items()
        ],
    }


def _measured(case: Case, batches: int, seed: int) -> Iterator[BatchMeasurement]:
    """Each batch's measurement; chains begin under the exact stationary law, and never meet."""
    control, (envs, steps) = case.control, (case.layout.envs, case.layout.steps)
    engine = StageEngine(control.stage.policy, control.stage.params)
    luck = numpy_stream(seed, f"live.{case.words}")
    pool = Sampler(control).draw(luck, batches * envs, steps)
    advantage = fragment_advantages(pool, control.gamma, control.lam, steps, steps)
    arrays = (pool.observation, pool.action, advantage.astype(np.float32))
    for first in range(0, batches * envs, envs):
        own = (array[:, first : first + envs] for array in arrays)
        yield measure_batch(engine, LiveBatch(*own), _LOSS)


def _judged(intervals: list[Interval], truth: float | str, field: str) -> dict[str, Any]:
    if isinstance(truth, str):
        return {"skipped": truth}
    return judge(intervals, truth, field)
