"""The stages of an advice: train or read them, choose those to measure, and measure them."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import partial
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
from nbyt.gradients.spec import AdvantageScale
from nbyt.measure.frozen_policy import Collector, FrozenPolicy, FrozenStage
from nbyt.measure.measurement import Measurement
from nbyt.measure.probe import NO_PHASE, examine
from nbyt.measure.request import Progress, Request, Resources, make_request
from nbyt.policy.actor_critic import Stage
from nbyt.policy.files import read_stage, require_env
from nbyt.results import decode
from nbyt.results.measurement import Measurement as MeasurementRecord
from nbyt.rng import numpy_stream, seeds
from nbyt.stats.intervals import DEPENDABLE
from nbyt.stats.pool import OBJECTIVES
from nbyt.store.files import MEASUREMENT, RESULT, RETURNS, STAGE, TRAINING
from nbyt.store.manifest import manifest
from nbyt.store.run import Folder, open_run
from nbyt.store.tensors import Template, Tensors, match
from nbyt.store.text import slug
from nbyt.train import hardware
from nbyt.train.loop import Watch, kept_stages, train


@dataclass(frozen=True)
class StageToMeasure:
    """A frozen policy, its samples so far, and the (envs, steps) of its training if known.

    areas: its weight among the stages of its training, by way of weighing; None if unknown.
    source: the folder that it was read from, if the user gave one.
    """

    name: str
    frozen_policy: FrozenPolicy
    updates: int | None
    samples: int | None
    trained_with: tuple[int, int] | None
    areas: dict[str, float] | None = None
    source: str = ""


def open_folder(
    request: AdviceRequest,
    given: Sequence[StageToMeasure],
    out: Path | str | None,
    *,
    force: bool,
    inner: bool = False,
) -> Folder:
    """Create or resume the folder of the advice; refuse that of another request.

    inner: it is part of another folder.
    """
    identity = {**request.identity(), "from": [each.frozen_policy.fingerprint for each in given]}
    device = hardware.describe()
    env, effort = request.env.id.rpartition(":")[2], request.effort.name
    name = slug(f"advise-{env}-{request.batch}-{effort}-seed{request.seed}")
    made_by = manifest("advise", identity, request.seed, device)
    path = Path(out) if out is not None else Path("runs") / name
    return open_run(path, identity, "advise", manifest=made_by, force=force, inner=inner)


def train_stages(
    request: AdviceRequest, folder: Folder, progress: Progress
) -> list[StageToMeasure]:
    """Train, or resume, and return the stages to measure."""
    stages = []
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
        kept = kept_stages(plan, run)
        returns = _returns(request, folder, (envs, steps), kept, progress)
        stages += _worth_measuring(request, kept, returns, prefix)
    return stages


def _returns(
    request: AdviceRequest,
    folder: Folder,
    training: tuple[int, int],
    kept: Sequence[Stage],
    progress: Progress,
) -> list[float | None]:
    """Return the mean return of every stage of a training; None where none is finite."""
    known = folder.read(RETURNS, *training)
    if known is not None and len(known.returns) == len(kept):
        return list(known.returns)
    found: list[float | None] = []
    for number, stage in enumerate(kept, start=1):
        played = episode_returns(request.env, stage.policy, stage.params, request.seed)
        returns = played.returns[np.isfinite(played.returns)]
        found.append(float(returns.mean()) if len(returns) else None)
        progress("playing episodes", number, len(kept))
    folder.write(RETURNS, {"returns": found}, *training)
    return found


def _worth_measuring(
    request: AdviceRequest, kept: Sequence[Stage], returns: Sequence[float | None], prefix: str
) -> list[StageToMeasure]:
    """Choose stages where most was left to learn, and two late ones."""
    samples = [stage.facts.get("steps", 0) for stage in kept]
    ways = {"learning": learning_weights(samples, returns), "samples": sample_weights(samples)}
    places = chosen(ways["learning"], samples, request.stages)
    weights = {way: summed_areas(areas, samples, places) for way, areas in ways.items()}
    return [
        replace(
            stage_to_measure(FrozenStage(request.env, kept[place]), prefix),
            areas={way: float(areas[k]) for way, areas in weights.items()},
        )
        for k, place in enumerate(places)
    ]


def given_stages(
    stages: Sequence[Stage | Path | str], env: DeviceEnv | HostEnv
) -> list[StageToMeasure]:
    """Return the stages that the user gives: stages, their folders, or runs that hold several."""
    known = []
    for given in stages:
        if isinstance(given, Stage):
            known.append(stage_to_measure(FrozenStage(env, given)))
            continue
        for path in _stage_folders(Path(given)):
            stage = read_stage(path)
            require_env(stage, env.id, str(path))
            known.append(replace(stage_to_measure(FrozenStage(env, stage)), source=str(path)))
    if not known:
        raise UsageError("no stage given", where="--from", fix="give the folder of a run or stage")
    if len({each.name for each in known}) == len(known):
        return known
    return [
        replace(each, name=f"stage {number}, {each.name}")
        for number, each in enumerate(known, start=1)
    ]


def collected_by(collector: Collector | None, stage: StageToMeasure) -> StageToMeasure:
    """Return the stage with a collector for its chains, where that is possible."""
    frozen_policy = stage.frozen_policy
    if collector is None or not isinstance(frozen_policy, FrozenStage):
        return stage
    return replace(stage, frozen_policy=replace(frozen_policy, collector=collector))


def _stage_folders(path: Path) -> list[Path]:
    if (path / "stage.json").exists() or path.name in ("stage.json", "stage.safetensors"):
        return [path]
    folders = Folder(path).present(STAGE) if path.is_dir() else []
    if not folders:
        message = f"{path} is neither a stage nor a run with stages"
        fix = "give folders such as runs/cartpole/stage-3, or runs/cartpole for all its stages"
        raise StoreError(message, where="--from", fix=fix)
    return folders


def stage_to_measure(frozen_policy: FrozenPolicy, prefix: str = "") -> StageToMeasure:
    """Return the frozen policy with what is known of its training."""
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
    """A stage's measurement, and the arrays to rank it with."""

    stage: StageToMeasure
    record: MeasurementRecord
    tensors: Tensors

    def evidence(self, objective: str) -> Evidence:
        """Return what its chains say about one objective."""
        arrays = [self.tensors[f"{objective}/{name}"] for name in _ARRAYS]
        return Evidence(tuple(layout.steps for layout in self.record.layouts), *arrays)


def measure(
    request: AdviceRequest,
    stages: Sequence[StageToMeasure],
    folder: Folder,
    progress: Progress,
    done: Callable[[], None] = lambda: None,
    times: int = 1,
) -> list[Measured]:
    """Measure every stage, or read its measurement from the folder.

    done: called after each of them. times: factor of the effort's chains.
    """
    measured = []
    chains = times * request.effort.chains
    for number, stage in enumerate(stages, start=1):
        path = folder.path_of(MEASUREMENT, number)
        known = folder.read(MEASUREMENT, number)
        if known is not None:
            _require_own(request, path, *known)
        if known is None or known[1].pool.chains < chains:
            what = f"stage {number} of {len(stages)}"
            what += f", {chains} chains" if times > 1 else ""
            tensors, data = _probe(request, stage, number, chains, what, progress)
            folder.write(MEASUREMENT, (tensors, data), number)
            known = tensors, decode(data, MeasurementRecord, path)
        measured.append(Measured(stage, known[1], known[0]))
        done()
    return measured


def _require_own(
    request: AdviceRequest, path: Path, tensors: Tensors, record: MeasurementRecord
) -> None:
    """Raise a StoreError for a measurement whose layouts or arrays are not the request's."""
    layouts = tuple((layout.envs, layout.steps) for layout in record.layouts)
    if layouts != request.layouts:
        message = f"{path} was measured with other layouts than those that are compared here"
        fix = "delete that folder; the same command then measures it again"
        raise StoreError(message, where=str(path), fix=fix)
    each = ((1 + DRAWS, len(layouts)), float)
    template: Template = {f"{one}/{name}": each for one in OBJECTIVES for name in _ARRAYS}
    scale = ((len(layouts), 1), float)
    match(tensors, {**template, "scale/mean": scale, "scale/spread": scale}, str(path))


def _probe(
    request: AdviceRequest,
    stage: StageToMeasure,
    number: int,
    chains: int,
    what: str,
    progress: Progress,
) -> tuple[Tensors, dict[str, Any]]:
    measured = examine(
        stage.frozen_policy,
        _probe_request(
            request, stage, request.steps, request.lambdas[:1], chains=chains, number=number
        ),
        phase=False,
        resources=Resources(request.memory, request.max_envs, request.vector),
        progress=lambda part, done, total: progress(f"{what}: {part}", done, total),
    )
    data = {**measured.as_dict(), "warnings": list(measured.warnings)}
    return _arrays(measured, request.seed, number), data


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


def _arrays(measured: Measurement, seed: int, number: int) -> Tensors:
    """Return what the ranking needs, for every objective.

    Chains are redrawn independently in every stage, and alike within a stage.
    """
    scale = measured.scale
    assert scale is not None, "a probe keeps its scale"
    arrays: Tensors = {"scale/mean": scale.mean, "scale/spread": scale.spread}
    lam = measured.request.lambdas[0]
    for objective in OBJECTIVES:
        products = [measured.products[objective, steps, lam] for steps in measured.request.steps]
        evidence = evidence_of(products, DRAWS, numpy_stream(seed, "advise", number))
        arrays |= {f"{objective}/{name}": getattr(evidence, name) for name in _ARRAYS}
    return arrays


# T that are diagnosed with every lambda; the shortest, the longest and the advised are among them.
_LENGTHS = 5
# The cost of tracing sources grows with the square of T.
_LONGEST_TRACED = 128


def diagnose_stage(
    request: AdviceRequest, measured: Measured, best: int, progress: Progress
) -> dict[str, Any]:
    """Measure other lambdas, phase, sources of noise and a picture, around the advised T."""
    from nbyt.measure.plane import draw_plane
    from nbyt.measure.sources import sources_of

    stage, steps = measured.stage, request.steps
    # Half of those that rank are enough for intervals that are not approximate.
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
    pictured = tuple(sorted({steps[0], *request.trained, best, steps[-1]}))
    return {
        "lambdas": list(request.lambdas),
        "layouts": found.as_dict()["layouts"],
        "left_out": [sentence for sentence in found.warnings if sentence == NO_PHASE],
        "sources": sources_of(*given, (traced,), scale, progress),
        "plane": draw_plane(*given, scale, pictured, resources, progress),
    }
