"""Measure the frozen policies that explain an advice, and diagnose the last of them."""

from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

from nbyt.advice.request import AdviceRequest
from nbyt.advice.stages import Measured, StageToMeasure
from nbyt.collect import Progress
from nbyt.gradients.spec import AdvantageScale
from nbyt.measure.probe import NO_PHASE, examine
from nbyt.measure.request import Request, Resources, make_request
from nbyt.results import decode
from nbyt.results.measurement import Look
from nbyt.results.measurement import Measurement as MeasurementRecord
from nbyt.results.values import typed
from nbyt.rng import seeds
from nbyt.stats.intervals import DEPENDABLE
from nbyt.store.files import MEASUREMENT
from nbyt.store.run import Folder
from nbyt.store.tensors import Template, Tensors, match


def measure(
    request: AdviceRequest,
    stages: Sequence[StageToMeasure],
    folder: Folder,
    progress: Progress,
    done: Callable[[], None] = lambda: None,
) -> list[Measured]:
    """Measure every stage, or read its measurement from the folder. done: called after each."""
    measured = []
    for number, stage in enumerate(stages, start=1):
        path = folder.path_of(MEASUREMENT, number)
        known = folder.read(MEASUREMENT, number)
        if known is None or not _is_of(request, stage, known[1]):
            tensors, data = _probe(request, stage, number, len(stages), progress)
            folder.remove(MEASUREMENT, number)
            folder.write(MEASUREMENT, (tensors, data), number)
            known = tensors, decode(data, MeasurementRecord, path)
        _require_own(request, path, known[0])
        measured.append(Measured(stage, known[1], known[0]))
        done()
    return measured


def _is_of(request: AdviceRequest, stage: StageToMeasure, record: MeasurementRecord) -> bool:
    """Return True for a measurement of this stage with the layouts and chains that are asked."""
    layouts = tuple((layout.envs, layout.steps) for layout in record.layouts)
    return (
        layouts == request.layouts
        and record.pool.chains == request.effort.chains
        and record.stage == stage.frozen_policy.fingerprint
    )


def _require_own(request: AdviceRequest, path: Path, tensors: Tensors) -> None:
    """Raise a StoreError for arrays that are not the request's."""
    scale = ((len(request.layouts), 1), float)
    template: Template = {"scale/mean": scale, "scale/spread": scale}
    match(tensors, template, str(path))


def _probe(
    request: AdviceRequest, stage: StageToMeasure, number: int, stages: int, progress: Progress
) -> tuple[Tensors, dict[str, Any]]:
    chains = request.effort.chains
    measured = examine(
        stage.frozen_policy,
        _probe_request(
            request, stage, request.steps, request.lambdas[:1], chains=chains, number=number
        ),
        phase=False,
        resources=Resources(request.memory, request.max_envs, request.vector),
        progress=lambda part, done, total: progress(
            f"stage {number} of {stages}: {part}", done, total
        ),
    )
    scale = measured.scale
    assert scale is not None, "a probe keeps its scale"
    data = {
        **measured.as_dict(),
        "warnings": list(measured.warnings),
        "stage": stage.frozen_policy.fingerprint,
    }
    return {"scale/mean": scale.mean, "scale/spread": scale.spread}, data


def _probe_request(
    request: AdviceRequest,
    stage: StageToMeasure,
    steps: Sequence[int],
    lambdas: Sequence[float],
    *,
    chains: int,
    number: int | None = None,
) -> Request:
    # Stages are resampled as independent, so their chains must be.
    seed = request.seed if number is None else seeds(request.seed, "advise.pool", number)[-1]
    return make_request(
        stage.frozen_policy.facts,
        batch=request.batch,
        steps=steps,
        gamma=request.settings.gamma,
        lam=lambdas,
        chains=chains,
        seed=seed,
    )


# T that are diagnosed with every lambda; the shortest, the longest and the advised are among them.
_LENGTHS = 5
# The cost of tracing sources grows with the square of T.
_LONGEST_TRACED = 128


def diagnose_stage(
    request: AdviceRequest, measured: Measured, best: int, progress: Progress
) -> Look:
    """Measure other lambdas, phase, sources of noise and a picture, around the advised T."""
    from nbyt.measure.plane import draw_plane
    from nbyt.measure.sources import sources_of

    stage, steps = measured.stage, request.steps
    chains = max(DEPENDABLE, request.effort.chains // 2)
    ask = partial(_probe_request, request, stage, chains=chains)
    resources = Resources(request.memory, request.max_envs, request.vector)
    places = np.linspace(0, len(steps) - 1, min(_LENGTHS, len(steps))).round().astype(int)
    found = examine(
        stage.frozen_policy,
        ask(sorted({best, *(steps[place] for place in places)}), request.lambdas),
        phase=True,
        resources=resources,
        progress=lambda what, done, total: progress(f"diagnosing: {what}", done, total),
    )
    given = stage.frozen_policy, ask(steps, request.lambdas[:1])
    mean, spread = (measured.tensors[f"scale/{name}"] for name in ("mean", "spread"))
    scale = AdvantageScale(mean, spread, 0.0, 0.0, 1.0)
    traced = min(best, max(t for t in steps if t <= max(_LONGEST_TRACED, steps[0])))
    pictured = tuple(sorted({steps[0], best, steps[-1]}))
    look = {
        "lambdas": list(request.lambdas),
        "layouts": found.as_dict()["layouts"],
        "left_out": [sentence for sentence in found.warnings if sentence == NO_PHASE],
        "sources": sources_of(*given, (traced,), scale, progress),
        "plane": draw_plane(*given, scale, pictured, resources, progress),
    }
    return typed(look, Look)
