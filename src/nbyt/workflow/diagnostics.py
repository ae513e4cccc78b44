"""A closer look at a stage: T and lambda together, phase, sources of noise, and a picture."""

from collections.abc import Sequence
from typing import Any

import numpy as np

from nbyt.gradients.weights import AdvantageScale
from nbyt.measure.chains import Progress, Resources
from nbyt.measure.frozen_policy import FrozenPolicy
from nbyt.measure.origins import sources_of
from nbyt.measure.plane import draw_plane
from nbyt.measure.probing import NO_PHASE, examine
from nbyt.measure.request import Request, make_request
from nbyt.stats.jackknife import DEPENDABLE
from nbyt.workflow.measuring import Measured
from nbyt.workflow.request import AdviceRequest

# T of the map of T and lambda; the shortest, the longest and the advised are among them.
_LENGTHS = 5
# The cost of tracing sources grows with the square of T.
_LONGEST_TRACED = 128


def diagnose_stage(
    request: AdviceRequest, measured: Measured, best: int, progress: Progress
) -> dict[str, Any]:
    """What one stage says beside the ranking, around the advised T."""
    lengths = _lengths(request.steps, best)
    resources = Resources(request.memory, request.max_envs, request.vector)
    frozen_policy = measured.target.frozen_policy
    found = examine(
        frozen_policy,
        _probe_request(request, frozen_policy, lengths, request.lambdas),
        phase=True,
        resources=resources,
        progress=lambda what, done, total: progress(f"closer look: {what}", done, total),
    )
    probe_request = _probe_request(request, frozen_policy, request.steps, request.lambdas[:1])
    scale = _scale(measured)
    traced = max(t for t in request.steps if t <= max(_LONGEST_TRACED, request.steps[0]))
    traced = min(best, traced)
    pictured = tuple(sorted({request.steps[0], *request.trained, best, request.steps[-1]}))
    return {
        "lambdas": list(request.lambdas),
        "layouts": found.as_dict()["layouts"],
        "left_out": [sentence for sentence in found.warnings if sentence == NO_PHASE],
        "sources": sources_of(frozen_policy, probe_request, (traced,), scale, progress),
        "plane": draw_plane(frozen_policy, probe_request, scale, pictured, resources, progress),
    }


def _chains(request: AdviceRequest) -> int:
    """Half of those that rank: enough for intervals that are not approximate."""
    return max(DEPENDABLE, request.effort.chains // 2)


def _lengths(steps: tuple[int, ...], best: int) -> list[int]:
    places = np.linspace(0, len(steps) - 1, min(_LENGTHS, len(steps))).round().astype(int)
    return sorted({best, *(steps[place] for place in places)})


def _probe_request(
    request: AdviceRequest,
    frozen_policy: FrozenPolicy,
    steps: Sequence[int],
    lambdas: Sequence[float],
) -> Request:
    return make_request(
        frozen_policy.facts,
        batch=request.batch,
        steps=steps,
        gamma=request.settings.gamma,
        lam=lambdas,
        chains=_chains(request),
        seed=request.seed,
    )


def _scale(measured: Measured) -> AdvantageScale:
    mean, spread = (measured.tensors[f"scale/{name}"] for name in ("mean", "spread"))
    return AdvantageScale(mean, spread, 0.0, 0.0, 1.0)
