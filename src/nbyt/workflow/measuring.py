"""Measure the stages one after another; what is measured is kept, and not measured again."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from nbyt.errors import StoreError
from nbyt.measure.chains import Progress, Resources
from nbyt.measure.measurement import OBJECTIVES, Measurement
from nbyt.measure.probing import examine
from nbyt.measure.request import make_request
from nbyt.rank.evidence import Evidence, evidence_of
from nbyt.rng import numpy_stream, seeds
from nbyt.store.advice import AdviceFolder
from nbyt.store.tensors import Template, Tensors, match
from nbyt.workflow.request import AdviceRequest
from nbyt.workflow.stages import StageToMeasure

DRAWS = 1000
_ARRAYS = ("along", "mean_sq", "variance")


@dataclass(frozen=True)
class Measured:
    """A stage's measurement as plain data, and the arrays behind it."""

    target: StageToMeasure
    data: dict[str, Any]
    tensors: Tensors

    def evidence(self, objective: str) -> Evidence:
        """What its chains say about one objective."""
        arrays = [self.tensors[f"{objective}/{name}"] for name in _ARRAYS]
        return Evidence(tuple(one["steps"] for one in self.data["layouts"]), *arrays)


def measure(
    request: AdviceRequest,
    targets: Sequence[StageToMeasure],
    folder: AdviceFolder,
    progress: Progress,
    done: Callable[[], None] = lambda: None,
    times: int = 1,
) -> list[Measured]:
    """Return every stage's measurement, from the folder where it is there already.

    done: called after each of them. times: so many times the chains that are usual.
    """
    found = []
    chains = times * request.effort.chains
    for number, target in enumerate(targets, start=1):
        known = folder.load_measurement(number)
        if known is not None:
            _require_own(request, folder.measured_path(number), *known)
        if known is None or known[1]["pool"]["chains"] < chains:
            what = f"stage {number} of {len(targets)}"
            what += f", {chains} chains" if times > 1 else ""
            known = _probe(request, target, number, chains, what, progress)
            folder.save_measurement(number, *known)
        found.append(Measured(target, known[1], known[0]))
        done()
    return found


def _require_own(
    request: AdviceRequest, path: Path, tensors: Tensors, data: dict[str, Any]
) -> None:
    """Raise a StoreError for a measurement whose layouts or arrays are not the request's."""
    layouts = tuple((one["envs"], one["steps"]) for one in data["layouts"])
    if layouts != request.layouts:
        raise StoreError(
            f"{path} was measured with other layouts than those that are compared here",
            where=str(path),
            fix="delete that folder; the same command then measures it again",
        )
    each = ((1 + DRAWS, len(layouts)), float)
    template: Template = {f"{one}/{name}": each for one in OBJECTIVES for name in _ARRAYS}
    scale = ((len(layouts), 1), float)
    match(tensors, {**template, "scale/mean": scale, "scale/spread": scale}, str(path))


def _probe(
    request: AdviceRequest,
    target: StageToMeasure,
    number: int,
    chains: int,
    what: str,
    progress: Progress,
) -> tuple[Tensors, dict[str, Any]]:
    probe_request = make_request(
        target.frozen_policy.facts,
        batch=request.batch,
        steps=request.steps,
        gamma=request.settings.gamma,
        lam=request.lambdas[:1],
        chains=chains,
        # Stages are resampled as independent, so their chains must be.
        seed=seeds(request.seed, "advise.pool", number)[-1],
    )
    measured = examine(
        target.frozen_policy,
        probe_request,
        phase=False,
        resources=Resources(request.memory, request.max_envs, request.vector),
        progress=lambda part, done, total: progress(f"{what}: {part}", done, total),
    )
    data = {**measured.as_dict(), "warnings": list(measured.warnings)}
    return _arrays(measured, request.seed, number), data


def _arrays(measured: Measurement, seed: int, number: int) -> Tensors:
    """What is needed to rank, for every objective.

    Chains are drawn again independently in every stage, and alike within a stage.
    """
    scale = measured.scale
    assert scale is not None, "a probe keeps its scale"
    arrays: Tensors = {"scale/mean": scale.mean, "scale/spread": scale.spread}
    lam = measured.request.lambdas[0]
    for objective in OBJECTIVES:
        products = [measured.products[objective, steps, lam] for steps in measured.request.steps]
        found = evidence_of(products, DRAWS, numpy_stream(seed, "advise", number))
        arrays |= {f"{objective}/{name}": getattr(found, name) for name in _ARRAYS}
    return arrays
