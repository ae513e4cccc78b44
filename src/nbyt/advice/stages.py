"""The frozen policies that explain an advice: train or read them, and measure them."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from nbyt.advice.given import OwnRun, require_same
from nbyt.advice.race import Evidence
from nbyt.advice.request import AdviceRequest
from nbyt.collect import Progress
from nbyt.envs.protocol import DeviceEnv, HostEnv
from nbyt.errors import StoreError, UsageError
from nbyt.measure.frozen_policy import Collector, FrozenPolicy, FrozenStage
from nbyt.policy.actor_critic import Stage
from nbyt.policy.files import read_stage, require_env
from nbyt.results.measurement import Measurement as MeasurementRecord
from nbyt.store.files import RESULT, STAGE, TRAINING
from nbyt.store.manifest import manifest
from nbyt.store.run import Folder, open_run
from nbyt.store.tensors import Tensors
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
    made_by = manifest("advise", identity, request.seed, hardware.describe())
    env = request.env.id.rpartition(":")[2]
    name = slug(f"advise-{env}-{request.batch}-{request.objective}-seed{request.seed}")
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
