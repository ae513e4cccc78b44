"""The stages to measure: trained for it, or given by the user."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np

from nbyt.collect.evaluate import episode_returns
from nbyt.envs.protocol import DeviceEnv, HostEnv
from nbyt.errors import StoreError, UsageError
from nbyt.gradients.stage_engine import StageEngine
from nbyt.measure.chains import Progress
from nbyt.measure.frozen_policy import Collector, FrozenPolicy, FrozenStage
from nbyt.policy.files import read_stage, require_env
from nbyt.policy.stage import Stage
from nbyt.rank.weights import chosen, gathered, learning_weights, sample_weights
from nbyt.store.advice import AdviceFolder
from nbyt.store.manifest import manifest
from nbyt.store.run import RunFolder, open_run
from nbyt.train import hardware
from nbyt.train.loop import Watch, kept_stages, train
from nbyt.workflow.request import AdviceRequest


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
    request: AdviceRequest, folder: AdviceFolder, progress: Progress
) -> list[StageToMeasure]:
    """The stages of the request's own trainings, each resumed or left alone if it is complete."""
    found = []
    for steps in request.trained:
        plan = request.plan(steps)
        envs = plan.layout.envs
        made_by = manifest("advise", plan.identity(), plan.seed, hardware.describe())
        path = folder.training(envs, steps)
        run = open_run(path, plan.identity(), manifest=made_by, inner=True)
        if run.read_result() is None:
            watch = Watch(progress, f"training with {envs}x{steps}", plan.updates)
            train(plan, run, (watch,), env=request.env)
        prefix = f"{envs}x{steps} " if len(request.trained) > 1 else ""
        kept = [_own(request.env, stage, prefix) for stage in kept_stages(plan, run)]
        found += _worth_measuring(request, kept, _returns(request, folder, kept, progress))
    return found


def _returns(
    request: AdviceRequest, folder: AdviceFolder, kept: Sequence[StageToMeasure], progress: Progress
) -> list[float | None]:
    """The mean return of every stage that was kept, played once; None where none is finite."""
    training = kept[0].trained_with
    assert training is not None, "stages trained here know their layout"
    known = folder.load_returns(*training)
    if known is not None and len(known) == len(kept):
        return known
    found: list[float | None] = []
    for number, one in enumerate(kept, start=1):
        engine = one.frozen_policy.engine
        assert isinstance(engine, StageEngine), "stages trained here are nbyt's own"
        played = episode_returns(request.env, engine.policy, engine.params, request.seed)
        returns = played.returns[np.isfinite(played.returns)]
        found.append(float(returns.mean()) if len(returns) else None)
        progress("playing episodes", number, len(kept))
    folder.save_returns(*training, found)
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
    weights = {way: gathered(areas, samples, places) for way, areas in ways.items()}
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
    folders = RunFolder(path).stages() if path.is_dir() else []
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
