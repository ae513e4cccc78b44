"""A closer look at a stage: T and lambda together, phase, sources of noise, and a picture."""

from collections.abc import Sequence
from typing import Any

import numpy as np

from nbyt.gradients.weights import Scale
from nbyt.measure.chains import Progress, Resources
from nbyt.measure.origins import sources_of
from nbyt.measure.plane import draw_plane
from nbyt.measure.probing import NO_PHASE, examine
from nbyt.measure.request import Request, make_request
from nbyt.measure.specimen import Specimen
from nbyt.stats.jackknife import DEPENDABLE
from nbyt.workflow.measuring import Measured
from nbyt.workflow.question import Question

# T of the map of T and lambda; the shortest, the longest and the advised are among them.
_LENGTHS = 5
# The cost of tracing sources grows with the square of T.
_LONGEST_TRACED = 128


def look_closer(
    question: Question, measured: Measured, best: int, progress: Progress
) -> dict[str, Any]:
    """What one stage says beside the ranking, around the advised T."""
    lengths = _lengths(question.steps, best)
    resources = Resources(question.memory, question.max_envs, question.vector)
    specimen = measured.subject.specimen
    found = examine(
        specimen,
        _request(question, specimen, lengths, question.lambdas),
        phase=True,
        resources=resources,
        progress=lambda what, done, total: progress(f"closer look: {what}", done, total),
    )
    request = _request(question, specimen, question.steps, question.lambdas[:1])
    scale = _scale(measured)
    traced = max(t for t in question.steps if t <= max(_LONGEST_TRACED, question.steps[0]))
    traced = min(best, traced)
    pictured = tuple(sorted({question.steps[0], *question.trained, best, question.steps[-1]}))
    return {
        "lambdas": list(question.lambdas),
        "layouts": found.as_dict()["layouts"],
        "left_out": [sentence for sentence in found.warnings if sentence == NO_PHASE],
        "sources": sources_of(specimen, request, (traced,), scale, progress),
        "plane": draw_plane(specimen, request, scale, pictured, resources, progress),
    }


def _chains(question: Question) -> int:
    """Half of those that rank: enough for intervals that are not approximate."""
    return max(DEPENDABLE, question.effort.chains // 2)


def _lengths(steps: tuple[int, ...], best: int) -> list[int]:
    places = np.linspace(0, len(steps) - 1, min(_LENGTHS, len(steps))).round().astype(int)
    return sorted({best, *(steps[place] for place in places)})


def _request(
    question: Question, specimen: Specimen, steps: Sequence[int], lambdas: Sequence[float]
) -> Request:
    return make_request(
        specimen.facts,
        batch=question.batch,
        steps=steps,
        gamma=question.settings.gamma,
        lam=lambdas,
        chains=_chains(question),
        seed=question.seed,
    )


def _scale(measured: Measured) -> Scale:
    mean, spread = (measured.tensors[f"scale/{name}"] for name in ("mean", "spread"))
    return Scale(mean, spread, 0.0, 0.0, 1.0)
