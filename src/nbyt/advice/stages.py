"""The stages to measure: trained for it, or given by the user."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np

from nbyt.advice.rank import (
    Evidence,
    chosen,
    evidence_of,
    learning_weights,
    sample_weights,
    summed_areas,
)
from nbyt.advice.request import AdviceRequest
from nbyt.collect.evaluate import episode_returns
from nbyt.envs.protocol import DeviceEnv, HostEnv
from nbyt.errors import StoreError, UsageError
from nbyt.gradients.engines.own import StageEngine
from nbyt.gradients.spec import AdvantageScale
from nbyt.measure.frozen_policy import Collector, FrozenPolicy, FrozenStage
from nbyt.measure.measurement import Measurement
from nbyt.measure.plane import draw_plane
from nbyt.measure.probe import NO_PHASE, examine
from nbyt.measure.request import Progress, Request, Resources, make_request
from nbyt.measure.sources import sources_of
from nbyt.policy.files import read_stage, require_env
from nbyt.policy.stage import Stage
from nbyt.results import plain
from nbyt.rng import numpy_stream, seeds
from nbyt.stats.intervals import DEPENDABLE
from nbyt.stats.pool import OBJECTIVES
from nbyt.store.files import MEASUREMENT, RESULT, RETURNS, STAGE, TRAINING
from nbyt.store.manifest import manifest
from nbyt.store.run import Folder, open_run
from nbyt.store.tensors import Template, Tensors, match
from nbyt.train import hardware
from nbyt.train.loop import Watch, kept_stages, train


@dataclass(frozen=True)
class StageToMeasure:
    """A frozen policy, its samples so far, and the (envs, steps) of its training if known.

    areas: how much it counts among those of its training, by way of weighing; None if unknown.
    source: the folder that it was read from, if the user named one.
    """

    name: str
    frozen_policy: FrozenPolicy
    updates: int | None
    samples: int | None
    trained_with: tuple[int, int] | None
    areas: dict[str, float] | None = None
    source: str = ""


def train_stages(
    request: AdviceRequest, folder: Folder, progress: Progress
) -> list[StageToMeasure]:
    """The stages of the request's own trainings, each resumed or left alone if it is complete."""
    found = []
    for steps in request.trained:
        plan = request.plan(steps)
        envs = plan.layout.envs
        made_by = manifest("advise", plan.identity(), plan.seed, hardware.describe())
        path = folder.path_of(TRAINING, envs, steps)
        run = open_run(path, plan.identity(), manifest=made_by, inner=True)
        if run.read(RESULT) is None:
            watch = Watch(progress, f"training with {envs}x{steps}", plan.updates)
            train(plan, run, (watch,), env=request.env)
        prefix = f"{envs}x{steps} " if len(request.trained) > 1 else ""
        kept = [_own(request.env, stage, prefix) for stage in kept_stages(plan, run)]
        found += _worth_measuring(request, kept, _returns(request, folder, kept, progress))
    return found


def _returns(
    request: AdviceRequest, folder: Folder, kept: Sequence[StageToMeasure], progress: Progress
) -> list[float | None]:
    """The mean return of every stage that was kept, played once; None where none is finite."""
    training = kept[0].trained_with
    assert training is not None, "stages trained here know their layout"
    known = folder.read(RETURNS, *training)
    if known is not None and len(known.returns) == len(kept):
        return list(known.returns)
    found: list[float | None] = []
    for number, one in enumerate(kept, start=1):
        engine = one.frozen_policy.engine
        assert isinstance(engine, StageEngine), "stages trained here are nbyt's own"
        played = episode_returns(request.env, engine.policy, engine.params, request.seed)
        returns = played.returns[np.isfinite(played.returns)]
        found.append(float(returns.mean()) if len(returns) else None)
        progress("playing episodes", number, len(kept))
    folder.write(RETURNS, {"returns": found}, *training)
    return found


def _worth_measuring(
    request: AdviceRequest, kept: Sequence[StageToMeasure], returns: Sequence[float | None]
) -> list[StageToMeasure]:
    """Stages where there was most to learn, and two of the later ones."""
    samples = [one.samples or 0 for one in kept]
    ways = {
        "learning": learning_weights(samples, returns),
        "samples": sample_weights(samples),
    }
    places = chosen(ways["learning"], samples, request.stages)
    weights = {way: summed_areas(areas, samples, places) for way, areas in ways.items()}
    return [
        replace(kept[place], areas={way: float(own[k]) for way, own in weights.items()})
        for k, place in enumerate(places)
    ]


def given_stages(
    stages: Sequence[Stage | Path | str], env: DeviceEnv | HostEnv
) -> list[StageToMeasure]:
    """The stages that the user names: stages, their folders, or runs that hold several."""
    found = []
    for given in stages:
        if isinstance(given, Stage):
            found.append(_own(env, given, ""))
            continue
        for path in _stage_folders(Path(given)):
            stage = read_stage(path)
            require_env(stage, env.id, str(path))
            found.append(replace(_own(env, stage, ""), source=str(path)))
    if not found:
        raise UsageError("no stage given", where="--from", fix="give the folder of a run or stage")
    repeated = len({one.name for one in found}) < len(found)
    if not repeated:
        return found
    return [
        replace(one, name=f"stage {number}, {one.name}")
        for number, one in enumerate(found, start=1)
    ]


def collected_by(collector: Collector | None, target: StageToMeasure) -> StageToMeasure:
    """Return the stage with its chains collected elsewhere, where that is possible."""
    frozen_policy = target.frozen_policy
    if collector is None or not isinstance(frozen_policy, FrozenStage):
        return target
    return replace(target, frozen_policy=replace(frozen_policy, collector=collector))


def _stage_folders(path: Path) -> list[Path]:
    if (path / "stage.json").exists() or path.name in ("stage.json", "stage.safetensors"):
        return [path]
    folders = Folder(path).present(STAGE) if path.is_dir() else []
    if not folders:
        raise StoreError(
            f"{path} is neither a stage nor a run with stages",
            where="--from",
            fix="give folders such as runs/cartpole/stage-3, or runs/cartpole for all its stages",
        )
    return folders


def _own(env: DeviceEnv | HostEnv, stage: Stage, prefix: str) -> StageToMeasure:
    return stage_to_measure(FrozenStage(env, stage), prefix)


def stage_to_measure(frozen_policy: FrozenPolicy, prefix: str = "") -> StageToMeasure:
    """Return the frozen policy with what it knows of its training."""
    facts = frozen_policy.facts
    layout = facts.get("layout")
    return StageToMeasure(
        f"{prefix}update {facts['updates']}" if "updates" in facts else "the stage",
        frozen_policy,
        facts.get("updates"),
        facts.get("steps"),
        (layout["envs"], layout["steps"]) if layout else None,
    )


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
    folder: Folder,
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
        kept = folder.read(MEASUREMENT, number)
        known = None if kept is None else (kept[0], plain(kept[1]))
        if known is not None:
            _require_own(request, folder.path_of(MEASUREMENT, number), *known)
        if known is None or known[1]["pool"]["chains"] < chains:
            what = f"stage {number} of {len(targets)}"
            what += f", {chains} chains" if times > 1 else ""
            known = _probe(request, target, number, chains, what, progress)
            folder.write(MEASUREMENT, known, number)
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
