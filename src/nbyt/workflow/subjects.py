"""Subjects: the stages that are measured, trained for it or handed over."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np

from nbyt.collect.evaluate import episode_returns
from nbyt.envs.protocol import DeviceEnv, HostEnv
from nbyt.errors import StoreError, UsageError
from nbyt.gradients.stage_engine import StageEngine
from nbyt.measure.chains import Progress
from nbyt.measure.specimen import Collector, Specimen, StageSpecimen
from nbyt.policy.files import read_stage, require_env
from nbyt.policy.stage import Stage
from nbyt.rank.weights import chosen, gathered, learning_weights, sample_weights
from nbyt.store.advice import AdviceFolder
from nbyt.store.manifest import manifest
from nbyt.store.run import RunFolder, open_run
from nbyt.train import hardware
from nbyt.train.loop import Watch, kept_stages, train
from nbyt.workflow.question import Question


@dataclass(frozen=True)
class Subject:
    """A specimen, the samples it was trained with, and the (envs, steps) of its training if known.

    areas: how much it counts among those of its training, by way of weighing; None if unknown.
    source: the folder that it was read from, if the user named one.
    """

    name: str
    specimen: Specimen
    updates: int | None
    samples: int | None
    trained_with: tuple[int, int] | None
    areas: dict[str, float] | None = None
    source: str = ""


def trained_subjects(question: Question, folder: AdviceFolder, progress: Progress) -> list[Subject]:
    """The stages of the question's own trainings, each resumed or left alone if it is complete."""
    found = []
    for steps in question.trained:
        plan = question.plan(steps)
        envs = plan.layout.envs
        made_by = manifest("advise", plan.identity(), plan.seed, hardware.describe())
        path = folder.training(envs, steps)
        run = open_run(path, plan.identity(), manifest=made_by, inner=True)
        if run.read_result() is None:
            watch = Watch(progress, f"training with {envs}x{steps}", plan.updates)
            train(plan, run, (watch,), env=question.env)
        prefix = f"{envs}x{steps} " if len(question.trained) > 1 else ""
        kept = [_own(question.env, stage, prefix) for stage in kept_stages(plan, run)]
        found += _worth_measuring(question, kept, _returns(question, folder, kept, progress))
    return found


def _returns(
    question: Question, folder: AdviceFolder, kept: Sequence[Subject], progress: Progress
) -> list[float | None]:
    """The mean return of every stage that was kept, played once; None where none is finite."""
    training = kept[0].trained_with
    assert training is not None, "stages trained here know their layout"
    known = folder.load_returns(*training)
    if known is not None and len(known) == len(kept):
        return known
    found: list[float | None] = []
    for number, one in enumerate(kept, start=1):
        engine = one.specimen.engine
        assert isinstance(engine, StageEngine), "stages trained here are nbyt's own"
        played = episode_returns(question.env, engine.policy, engine.params, question.seed)
        returns = played.returns[np.isfinite(played.returns)]
        found.append(float(returns.mean()) if len(returns) else None)
        progress("playing episodes", number, len(kept))
    folder.save_returns(*training, found)
    return found


def _worth_measuring(
    question: Question, kept: Sequence[Subject], returns: Sequence[float | None]
) -> list[Subject]:
    """Stages where there was most to learn, and two of the later ones."""
    samples = [one.samples or 0 for one in kept]
    ways = {
        "learning": learning_weights(samples, returns),
        "samples": sample_weights(samples),
    }
    places = chosen(ways["learning"], samples, question.stages)
    weights = {way: gathered(areas, samples, places) for way, areas in ways.items()}
    return [
        replace(kept[place], areas={way: float(own[k]) for way, own in weights.items()})
        for k, place in enumerate(places)
    ]


def given_subjects(stages: Sequence[Stage | Path | str], env: DeviceEnv | HostEnv) -> list[Subject]:
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


def collected_by(collector: Collector | None, subject: Subject) -> Subject:
    """The subject, its chains collected by somebody else where that is possible."""
    specimen = subject.specimen
    if collector is None or not isinstance(specimen, StageSpecimen):
        return subject
    return replace(subject, specimen=replace(specimen, collector=collector))


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


def _own(env: DeviceEnv | HostEnv, stage: Stage, prefix: str) -> Subject:
    return subject_of(StageSpecimen(env, stage), prefix)


def subject_of(specimen: Specimen, prefix: str = "") -> Subject:
    """The specimen with what it knows of its training."""
    facts = specimen.facts
    layout = facts.get("layout")
    return Subject(
        f"{prefix}update {facts['updates']}" if "updates" in facts else "the stage",
        specimen,
        facts.get("updates"),
        facts.get("steps"),
        (layout["envs"], layout["steps"]) if layout else None,
    )
