"""`nbyt train`: PPO with exactly the layout that was asked for."""

from contextlib import ExitStack
from dataclasses import dataclass
from math import prod
from pathlib import Path
from typing import Annotated, Any, Literal

import numpy as np
from cyclopts import Parameter
from rich.console import Console

from nbyt.cli.options import Common, Count, Settings
from nbyt.cli.output import Outcome, facts_table, show, talk, warn
from nbyt.cli.progress import TrainingProgress
from nbyt.collect.evaluate import LONGEST
from nbyt.envs import resolve
from nbyt.errors import UsageError
from nbyt.integrations.trackers import TensorBoard, WeightsAndBiases
from nbyt.layout import Layout
from nbyt.policy.actor_critic import Params, build
from nbyt.policy.files import read_stage, require_env
from nbyt.stats import Estimate
from nbyt.store.folder import METRICS
from nbyt.store.manifest import manifest
from nbyt.store.run import RunFolder, open_run
from nbyt.store.text import slug
from nbyt.train import hardware
from nbyt.train.loop import Listener, Result, train
from nbyt.train.plan import Plan, stage_updates
from nbyt.train.settings import PPOSettings


@dataclass(frozen=True)
class LayoutOptions:
    """Sizes of one update."""

    envs: Count = 8
    """Parallel environments (N)."""

    steps: Count = 256
    """Rollout steps of each environment between two updates (T)."""

    minibatch: Count = 256
    """Samples of one gradient step; must divide envs x steps."""

    epochs: Count = 4
    """Passes over the batch in one update."""


@dataclass(frozen=True)
class RunOptions:
    """Where a run goes and what it keeps."""

    total: Count = 500_000
    """Environment steps of the whole run."""

    seed: int = 0
    """Seed of all randomness."""

    out: Path | None = None
    """Folder of the run; giving the same command again resumes it."""

    force: bool = False
    """Clear a run with other settings from that folder."""

    stages: Count | None = None
    """Keep this many stages, evenly spaced, instead of early, middle and final."""

    save_at: str = ""
    """Keep stages after these updates, such as 100,200,400."""

    from_: Path | None = None
    """Begin with the weights of this stage."""

    vector: Literal["sync", "async"] = "sync"
    """Host envs in this process, or in a process each."""

    device: Literal["auto", "cpu", "gpu", "tpu"] = "auto"
    """Where JAX computes."""

    tensorboard: Path | None = None
    """Also log to this TensorBoard folder (extra `trackers`)."""

    wandb: str = ""
    """Also log to this Weights & Biases project (extra `trackers`)."""

    algo: Literal["ppo"] = "ppo"
    """The algorithm."""

    dry_run: bool = False
    """Say what would be done, and what it costs, and stop."""


def run(
    env: str,
    *,
    layout: Annotated[LayoutOptions, Parameter(name="*")] = LayoutOptions(),
    options: Annotated[RunOptions, Parameter(name="*")] = RunOptions(),
    settings: Annotated[Settings, Parameter(name="*")] = PPOSettings(),
    common: Annotated[Common, Parameter(name="*")] = Common(),
) -> Outcome:
    """Train PPO with exactly the layout you name, and keep stages.

    Parameters
    ----------
    env
        tabular:, gymnax:, gym: or envpool: and a name, package.module:make_env, or a bare name.
    """
    hardware.prepare(options.device)
    plan = _plan(env, layout, options, settings)
    console = talk(quiet=common.quiet)
    console.print(f"{plan.env}: {plan.layout}; {plan.updates} updates, seed {plan.seed}")
    if options.dry_run:
        return _dry_run(plan, common)
    weights = _weights(plan, options)
    folder = _folder(plan, options)
    known = folder.read_result()
    if known is None:
        result = _train(plan, folder, weights, options, console)
    else:
        console.print(f"{folder.path} is complete; nothing to do")
        result = _known_result(plan, folder, known)
    outcome = _outcome(plan, folder, result)
    warn(console, outcome.warnings)
    if not common.json:
        _show(plan, folder, result)
    return outcome


def _plan(env: str, layout: LayoutOptions, options: RunOptions, settings: PPOSettings) -> Plan:
    sizes = Layout(layout.envs, layout.steps, layout.minibatch, layout.epochs)
    updates = sizes.updates(options.total)
    stages = stage_updates(updates, count=options.stages, save_at=_numbers(options.save_at))
    if options.seed < 0:
        raise UsageError(f"seed {options.seed} is negative", where="seed", fix="use 0 or more")
    found = resolve(env)
    # Built now, so that a network that does not fit the env is refused before anything is written.
    build(found.observation_space, found.action_space, settings.parsed_network)
    return Plan(found.id, sizes, options.total, options.seed, settings, stages, options.vector)


def _numbers(text: str) -> tuple[int, ...]:
    try:
        return tuple(int(part) for part in text.split(",") if part.strip())
    except ValueError as error:
        raise UsageError(
            f"'{text}' is not a list of updates", where="save-at", fix="write it as 100,200,400"
        ) from error


def _folder(plan: Plan, options: RunOptions) -> RunFolder:
    sizes = f"{plan.layout.envs}x{plan.layout.steps}"
    default = Path("runs") / slug(f"{plan.env.partition(':')[2]}-{sizes}-seed{plan.seed}")
    made_by = manifest("train", plan.identity(), plan.seed, hardware.describe())
    identity = {**plan.identity(), "from": str(options.from_ or "")}
    return open_run(options.out or default, identity, manifest=made_by, force=options.force)


def _weights(plan: Plan, options: RunOptions) -> Params | None:
    if options.from_ is None:
        return None
    stage = read_stage(options.from_)
    require_env(stage, plan.env, str(options.from_))
    return stage.params


def _train(
    plan: Plan,
    folder: RunFolder,
    weights: Params | None,
    options: RunOptions,
    console: Console,
) -> Result:
    with ExitStack() as stack:
        bar = stack.enter_context(TrainingProgress(console, plan.updates))
        listeners: list[Listener] = [bar]
        if options.tensorboard is not None:
            listeners.append(stack.enter_context(TensorBoard(options.tensorboard)))
        if options.wandb:
            listeners.append(stack.enter_context(WeightsAndBiases(options.wandb, plan.identity())))
        return train(plan, folder, tuple(listeners), weights=weights)


def _known_result(plan: Plan, folder: RunFolder, known: dict[str, Any]) -> Result:
    stages = [str(folder.stage_path(number + 1)) for number in range(len(plan.stages))]
    final = Estimate(**known["final_return"])
    return Result(final, known["unfinished"], known["spoiled"], None, stages)


def _outcome(plan: Plan, folder: RunFolder, result: Result) -> Outcome:
    warnings = []
    if result.final_return.low == result.final_return.high:
        warnings.append(
            f"all {result.final_return.replicates} final episodes had the same return, so its "
            "interval has no width; it does not show how rare other returns are"
        )
    if result.unfinished:
        warnings.append(
            f"{result.unfinished} of {result.final_return.replicates} final episodes did not end "
            f"within {LONGEST} steps; their return so far was counted"
        )
    if result.spoiled:
        warnings.append(
            f"{result.spoiled} final episodes had rewards that are not finite; those were left out"
        )
    data = {
        "env": plan.env,
        "final_return": result.final_return.as_dict(),
        "episodes": result.final_return.replicates,
        "steps_per_second": result.steps_per_second,
        "layout": plan.layout.as_dict(),
        "updates": plan.updates,
        "stages": result.stages,
        "out": str(folder.path),
        "metrics": str(folder.path / METRICS),
    }
    return Outcome(data, warnings)


def _show(plan: Plan, folder: RunFolder, result: Result) -> None:
    speed = "-" if result.steps_per_second is None else f"{result.steps_per_second:,.0f} steps/s"
    rows = [
        ("env", plan.env),
        ("layout", str(plan.layout)),
        (
            "final return",
            f"{result.final_return}  (95 % interval, {result.final_return.replicates} episodes)",
        ),
        ("speed", f"{speed}, {plan.updates} updates"),
        ("run", str(folder.path)),
    ]
    for number, update in enumerate(plan.stages, start=1):
        rows.append((f"stage {number}", f"stage-{number}, after update {update}"))
    show(facts_table(rows))


def _dry_run(plan: Plan, common: Common) -> Outcome:
    env = resolve(plan.env)
    sample = np.dtype(env.observation_space.dtype).itemsize * prod(
        env.observation_space.shape or ()
    )
    # Observation, final observation, and eight numbers of each step; a mini-batch is a copy.
    memory = plan.layout.batch * (2 * sample + 8 * 4)
    data = {
        "layout": plan.layout.as_dict(),
        "updates": plan.updates,
        "gradient_steps": plan.updates * plan.layout.gradient_steps,
        "environment_steps": plan.updates * plan.layout.batch,
        "batch_bytes": memory,
        "stages_after_updates": list(plan.stages),
    }
    if not common.json:
        names = {name: name.replace("_", " ") for name in data if name != "layout"}
        rows = [("layout", str(plan.layout))]
        show(facts_table(rows + [(word, str(data[name])) for name, word in names.items()]))
    return Outcome(data)
