"""The frozen policies that explain an advice: train or read them, and measure them."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

from nbyt.advice.given import OwnRun, require_same
from nbyt.advice.race import Evidence
from nbyt.advice.request import AdviceRequest
from nbyt.envs.protocol import DeviceEnv, HostEnv
from nbyt.errors import StoreError, UsageError
from nbyt.gradients.spec import AdvantageScale
from nbyt.measure.frozen_policy import Collector, FrozenPolicy, FrozenStage
from nbyt.measure.probe import NO_PHASE, examine
from nbyt.measure.request import Progress, Request, Resources, make_request
from nbyt.policy.actor_critic import Stage
from nbyt.policy.files import read_stage, require_env
from nbyt.results import decode
from nbyt.results.measurement import Look
from nbyt.results.measurement import Measurement as MeasurementRecord
from nbyt.results.values import typed
from nbyt.rng import seeds
from nbyt.stats.intervals import DEPENDABLE
from nbyt.store.files import MEASUREMENT, RESULT, STAGE, TRAINING
from nbyt.store.manifest import manifest
from nbyt.store.run import Folder, open_run
from nbyt.store.tensors import Template, Tensors, match
from nbyt.store.text import slug
from nbyt.training import hardware
from nbyt.training.loop import Watch, kept_stages, train
from nbyt.training.plan import PPOPlan, stage_updates


@dataclass(frozen=True)
class StageToMeasure:
    """A frozen policy, its samples so far, and the (envs, steps) of its training if known.

    source: the folder that it was read from, if the user gave one.
    """

    name: str
    frozen_policy: FrozenPolicy
    updates: int | None
    samples: int | None
    trained_with: tuple[int, int] | None
    source: str = ""


def open_folder(
    request: AdviceRequest,
    out: Path | str | None,
    *,
    given: Sequence[StageToMeasure] = (),
    runs: Sequence[OwnRun] = (),
    force: bool,
) -> Folder:
    """Create or resume the folder of the advice; refuse that of another request."""
    require_same(request, runs)
    known = [*(each.frozen_policy.fingerprint for each in given), *(r.fingerprint for r in runs)]
    identity = {**request.identity(), "from": known}
    env = request.env.id.rpartition(":")[2]
    name = slug(f"advise-{env}-{request.batch}-{request.objective}-seed{request.seed}")
    made_by = manifest("advise", identity, request.seed, hardware.describe())
    path = Path(out) if out is not None else Path("runs") / name
    return open_run(path, identity, "advise", manifest=made_by, force=force)


def stages_like(
    evidence: Evidence, best: int, folder: Folder, progress: Progress
) -> list[StageToMeasure]:
    """Train as the race trained T = `best`, or its nearest arm, for policies that explain it."""
    race, request = evidence.race, evidence.race.request
    if request.stages == 0 or not race.seeds:
        return []
    place = race.known.steps.index
    steps = min(race.schedule.arms, key=lambda arm: abs(place(arm) - place(best)))
    updates = race.updates(steps)[1]
    plan = PPOPlan(
        request.env.id,
        request.layout(steps),
        updates * request.batch,
        race.seeds[0],
        request.settings,
        stage_updates(updates, count=min(request.stages, updates)),
        request.vector,
    )
    return train_stages(plan, request.env, folder, progress)


def train_stages(
    plan: PPOPlan, env: DeviceEnv | HostEnv, folder: Folder, progress: Progress
) -> list[StageToMeasure]:
    """Train, or resume, and return the stages of the plan."""
    envs, steps = plan.layout.envs, plan.layout.steps
    made_by = manifest("advise", plan.identity(), plan.seed, hardware.describe())
    path = folder.path_of(TRAINING, envs, steps)
    run = open_run(path, plan.identity(), manifest=made_by, inner=True, force=True)
    if run.read(RESULT) is None:
        watch = Watch(progress, f"training {envs}x{steps} for a policy to measure", plan.updates)
        train(plan, run, (watch,), env=env)
    return [stage_to_measure(FrozenStage(env, stage)) for stage in kept_stages(plan, run)]


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


def stage_to_measure(frozen_policy: FrozenPolicy) -> StageToMeasure:
    """Return the frozen policy with what is known of its training."""
    facts = frozen_policy.facts
    layout = facts.get("layout")
    return StageToMeasure(
        f"update {facts['updates']}" if "updates" in facts else "the stage",
        frozen_policy,
        facts.get("updates"),
        facts.get("steps"),
        (layout["envs"], layout["steps"]) if layout else None,
    )


@dataclass(frozen=True)
class Measured:
    """A stage's measurement, and the scale of advantages at every T."""

    stage: StageToMeasure
    record: MeasurementRecord
    tensors: Tensors


def measured_samples(measured: Sequence[Measured]) -> int:
    """Return the env steps of the measurements, and of the training that was measured."""
    trained = max((one.stage.samples or 0 for one in measured if not one.stage.source), default=0)
    return trained + sum(one.record.pool.samples for one in measured)


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
