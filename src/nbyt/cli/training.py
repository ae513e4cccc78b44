"""Parts that training commands share: options, the run folder, progress and results."""

from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

from rich.console import Console

from nbyt.cli.output import Algo, Common, Outcome, facts_table, show, show_next, talk, warn
from nbyt.collect.evaluate import LONGEST
from nbyt.envs.lookup import SUITES
from nbyt.integrations.trackers import TensorBoard, WeightsAndBiases
from nbyt.numbers import UPDATES, Count, Seed, Steps, UpdatesText, read_if_given
from nbyt.policy.actor_critic import Params
from nbyt.policy.files import read_stage, require_env
from nbyt.progress import TrainingProgress
from nbyt.results import plain
from nbyt.stats import Estimate
from nbyt.store.files import METRICS, RESULT, STAGE
from nbyt.store.manifest import manifest
from nbyt.store.run import Folder, open_run
from nbyt.store.text import slug
from nbyt.training import hardware
from nbyt.training.loop import Listener, Result, train
from nbyt.training.plan import AnyPlan, PPOPlan, stage_updates


@dataclass(frozen=True)
class RunOptions:
    """Options of a training run."""

    total: Steps = 500_000
    """Environment steps of the whole run."""

    seed: Seed = 0
    """Seed of all randomness."""

    out: Path | None = None
    """Folder of the run; the same command again resumes it."""

    force: bool = False
    """Delete a run with other settings from that folder."""

    stages: Count | None = None
    """Keep this many stages, evenly spaced, instead of early, middle and final."""

    save_at: UpdatesText = ""
    """Keep stages after these updates, such as 100,200,400."""

    from_: Path | None = None
    """Start from the weights of this stage."""

    vector: Literal["sync", "async"] = "sync"
    """Run host envs in this process, or each in its own process."""

    device: Literal["auto", "cpu", "gpu", "tpu"] = "auto"
    """Device that JAX uses."""

    tensorboard: Path | None = None
    """Also log to this TensorBoard folder (extra `trackers`)."""

    wandb: str = ""
    """Also log to this Weights & Biases project (extra `trackers`)."""

    algo: Algo = "ppo"
    """The algorithm; each has options of its own, shown by `--algo dqn --help`."""

    dry_run: bool = False
    """Show what would be done and what it costs, then stop."""


def stages_of(updates: int, options: RunOptions) -> tuple[int, ...]:
    """Return the updates after which stages are kept."""
    save_at = read_if_given(UPDATES, options.save_at, "--save-at") or ()
    return stage_updates(updates, count=options.stages, save_at=save_at)


def carry_out(
    plan: AnyPlan, options: RunOptions, common: Common, weights: Params | None
) -> Outcome:
    """Train as planned, or read the result of a complete run, and show it."""
    console = talk(quiet=common.quiet)
    folder = _folder(plan, options)
    known = folder.read(RESULT)
    if known is None:
        result = _train(plan, folder, weights, options, console)
    else:
        console.print(f"{folder.path} is complete; nothing to do")
        result = _known_result(plan, folder, plain(known))
    outcome = _outcome(plan, folder, result)
    warn(console, outcome.warnings)
    if not common.json:
        _show(plan, folder, result)
    return outcome


def weights_of(plan: AnyPlan, path: Path | None) -> Params | None:
    """Read the initial weights from the stage at `path`; None without one."""
    if path is None:
        return None
    stage = read_stage(path, plan.algo)
    require_env(stage, plan.env, str(path))
    return stage.params


def announce(plan: AnyPlan, common: Common) -> None:
    """Print what is going to be trained."""
    words = f"{plan.env}: {plan.layout}; {plan.updates} updates, seed {plan.seed}"
    talk(quiet=common.quiet).print(words)


def would_do(plan: AnyPlan, data: dict[str, Any], *, as_json: bool) -> Outcome:
    """Return the outcome of a dry run: the layout, and numbers under their names."""
    if not as_json:
        rows = [(name.replace("_", " "), str(value)) for name, value in data.items()]
        show(facts_table([("layout", str(plan.layout)), *rows]))
    return Outcome({"layout": plan.layout.as_dict(), **data})


def _folder(plan: AnyPlan, options: RunOptions) -> Folder:
    sizes = f"{plan.layout.envs}x{plan.layout.steps}"
    algo = "" if plan.algo == "ppo" else f"{plan.algo}-"
    default = Path("runs") / slug(f"{plan.env.partition(':')[2]}-{algo}{sizes}-seed{plan.seed}")
    made_by = manifest("train", plan.identity(), plan.seed, hardware.describe())
    identity = {**plan.identity(), "from": str(options.from_ or "")}
    return open_run(options.out or default, identity, manifest=made_by, force=options.force)


def _train(
    plan: AnyPlan, folder: Folder, weights: Params | None, options: RunOptions, console: Console
) -> Result:
    with ExitStack() as stack:
        bar = stack.enter_context(TrainingProgress(console, plan.updates))
        listeners: list[Listener] = [bar]
        if options.tensorboard is not None:
            listeners.append(stack.enter_context(TensorBoard(options.tensorboard)))
        if options.wandb:
            listeners.append(stack.enter_context(WeightsAndBiases(options.wandb, plan.identity())))
        return train(plan, folder, tuple(listeners), weights=weights)


def _known_result(plan: AnyPlan, folder: Folder, known: dict[str, Any]) -> Result:
    stages = [str(folder.path_of(STAGE, number + 1)) for number in range(len(plan.stages))]
    final = Estimate(**known["final_return"])
    return Result(final, known["unfinished"], known["spoiled"], None, stages)


def _outcome(plan: AnyPlan, folder: Folder, result: Result) -> Outcome:
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
        "algo": plan.algo,
        "env": plan.env,
        "final_return": result.final_return.as_dict(),
        "episodes": result.final_return.replicates,
        "steps_per_second": result.steps_per_second,
        "layout": plan.layout.as_dict(),
        "updates": plan.updates,
        "stages": result.stages,
        "out": str(folder.path),
        "metrics": str(folder.path / METRICS.name),
    }
    return Outcome(data, warnings)


def _show(plan: AnyPlan, folder: Folder, result: Result) -> None:
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
    if isinstance(plan, PPOPlan) and plan.stages:
        own = [] if plan.env.partition(":")[0] in SUITES else ["--env", plan.env]
        stage = folder.path / f"stage-{len(plan.stages)}"
        show_next("probe", stage, "--batch", plan.layout.batch, *own)
