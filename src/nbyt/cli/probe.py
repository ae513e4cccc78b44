"""`nbyt probe`: what every layout of a batch would do to a stage's gradient."""

from dataclasses import dataclass, replace
from pathlib import Path
from typing import Annotated, Any, Literal

from cyclopts import Parameter

from nbyt.cli.options import env_of
from nbyt.cli.output import Common, Outcome, dry_run, facts_table, show, show_next, talk, warn
from nbyt.envs import resolve
from nbyt.errors import UsageError
from nbyt.exact import Control
from nbyt.measure.control import CONTROLS, beside_exact
from nbyt.measure.probe import MAX_SAMPLES, cost_of, probe
from nbyt.measure.request import CHAINS, Resources, make_request
from nbyt.numbers import (
    MEMORY,
    PROBABILITIES,
    SIZES,
    Chains,
    MemoryText,
    Positive,
    ProbabilitiesText,
    Probability,
    Seed,
    Size,
    SizesText,
    Steps,
    read_if_given,
)
from nbyt.policy.files import read_stage
from nbyt.progress import steps_progress
from nbyt.report.numbers import both
from nbyt.report.pages.measurement import measurement_page
from nbyt.report.tables.probes import (
    control_table,
    direction_table,
    lag_table,
    noise_table,
    overview_table,
    phase_table,
    reasons,
    source_table,
    surface_table,
    verdict,
)
from nbyt.results.measurement import ControlRow
from nbyt.results.measurement import Measurement as MeasurementRecord
from nbyt.results.values import OBJECTIVES, typed
from nbyt.store.files import MEASURED, PAGE
from nbyt.store.formats import write_sealed
from nbyt.store.paths import make_folder, resolved
from nbyt.store.run import require_no_page
from nbyt.training import hardware

# Options that a control has no use for: its exact answer is that of its own setting.
_STAGES_ONLY = ("chain_steps", "precision", "advantages", "start", "sources", "env", "dry_run")


@dataclass(frozen=True)
class ProbeOptions:
    """What to measure, and with how much."""

    batch: Size | None = None
    """Samples of a batch, N x T; every split of it is measured."""

    steps: SizesText = ""
    """Rollout steps T to measure, such as 8,32,128; without, the divisors of the batch to 2,048."""

    lam: ProbabilitiesText = ""
    """Lambda of GAE, or several such as 0,0.9,0.95,1; without, the stage's own."""

    gamma: Probability | None = None
    """Discount of a step; without, the stage's own."""

    control: str = ""
    """Measure a shipped control instead of a stage, beside its exact answer."""

    chains: Chains = CHAINS
    """Independent chains of the frozen policy."""

    chain_steps: Size | None = None
    """Measured steps of each chain; at least the longest T."""

    precision: Positive | None = None
    """Add chains until the alignment of the best layouts is known this well, such as 0.1."""

    max_samples: Steps = MAX_SAMPLES
    """Env steps that --precision may spend."""

    advantages: Literal["raw", "normalised"] | None = None
    """Advantages as they are, or with mean 0 and deviation 1; without, as the stage was trained."""

    start: Literal["stationary", "reset"] = "stationary"
    """Envs at random phases of their episodes, or all at a reset."""

    sources: SizesText = ""
    """Trace the sources of noise at these T, such as 32."""

    skip_phase: bool = False
    """Do not measure what synchronised starts add."""

    env: str = ""
    """The stage's env, where it is code of yours (package.module:make_env)."""

    trust_env: bool = False
    """Import the env that the stage's file names, even if it is not from a suite."""

    max_envs: Size = 64
    """Host envs that run at once."""

    vector: Literal["sync", "async"] = "sync"
    """Host envs in this process, or in a process each."""

    memory: MemoryText = "1G"
    """Memory that measuring may use, such as 512M."""

    seed: Seed = 0
    """Seed of all randomness."""

    full: bool = False
    """Print all numbers, and not only those that matter most."""

    out: Path | None = None
    """Folder to keep the measurement in, as measurement.json, with a page."""

    device: Literal["auto", "cpu", "gpu", "tpu"] = "auto"
    """Where JAX computes."""

    dry_run: bool = False
    """Say what would be measured, and what it costs, and stop."""


def run(
    stage: Path | None = None,
    *,
    options: Annotated[ProbeOptions, Parameter(name="*")] = ProbeOptions(),
    common: Annotated[Common, Parameter(name="*")] = Common(),
) -> Outcome:
    """Measure what every split of a batch into N x T would do to a frozen policy's gradient.

    Parameters
    ----------
    stage
        Folder of a stage that `nbyt train` has kept.
    """
    if (stage is None) == (not options.control):
        message = "give a stage or a control, one of them"
        fix = "`nbyt probe runs/.../stage-3 --batch 2048`, or `nbyt probe --control sticky`"
        raise UsageError(message, where="nbyt probe", fix=fix)
    hardware.prepare(options.device, quiet=common.quiet)
    if options.control:
        return _control(options, common)
    assert stage is not None
    return _stage(stage, options, common)


def _stage(path: Path, options: ProbeOptions, common: Common) -> Outcome:
    if options.batch is None:
        raise UsageError("no batch given", where="batch", fix="add --batch 2048")
    stage = read_stage(path)
    env = resolve(env_of(stage, options.env, str(path), trust=options.trust_env))
    if options.dry_run:
        request = make_request(stage.facts, **_request(options))
        cost = cost_of(env, stage, request, _memory(options))
        return dry_run(cost, common)
    if options.out is not None:
        require_no_page(resolved(options.out))
    console = talk(quiet=common.quiet)
    console.print(f"{env.id}: {path}, batch {options.batch}, {options.chains} chains")
    with steps_progress(console) as progress:
        measured = probe(
            env,
            stage,
            **_request(options),
            precision=options.precision,
            max_samples=options.max_samples,
            phase=not options.skip_phase,
            sources=read_if_given(SIZES, options.sources, "--sources") or (),
            resources=Resources(_memory(options), options.max_envs, options.vector),
            progress=progress,
        )
    data: dict[str, Any] = {**measured.as_dict(), "stage": str(path.resolve())}
    stored = {**data, "warnings": measured.warnings}
    record = typed(stored, MeasurementRecord)
    _keep(stored, options)
    page = _write_page(record, options)
    warn(console, list(measured.warnings))
    if not common.json:
        _show(record, full=options.full or bool(options.sources))
        _show_path(page)
        show_next("advise", env.id, "--batch", options.batch)
    return Outcome(data, list(measured.warnings))


def _control(options: ProbeOptions, common: Common) -> Outcome:
    if options.control not in CONTROLS:
        message = f"no control is called '{options.control}'"
        raise UsageError(message, where="control", fix=f"one of: {', '.join(CONTROLS)}")
    control = _changed(CONTROLS[options.control](), options)
    if options.out is not None:
        require_no_page(resolved(options.out))
    console = talk(quiet=common.quiet)
    with steps_progress(console) as progress:
        measured, rows = beside_exact(
            control, seed=options.seed, chains=options.chains, progress=progress
        )
    data = {
        **measured.as_dict(),
        "control": {"name": control.name, "sentence": control.sentence, "rows": rows},
    }
    stored = {**data, "warnings": measured.warnings}
    _keep(stored, options)
    page = _write_page(typed(stored, MeasurementRecord), options)
    warn(console, list(measured.warnings))
    if not common.json:
        show(facts_table([("control", control.name), ("shows", control.sentence)]))
        show(control_table(typed(rows, list[ControlRow])))
        _show_path(page)
    return Outcome(data, list(measured.warnings))


def _changed(control: Control, options: ProbeOptions) -> Control:
    default = ProbeOptions()
    unknown = [n for n in _STAGES_ONLY if getattr(options, n) != getattr(default, n)]
    lambdas = read_if_given(PROBABILITIES, options.lam, "--lambda") or ()
    if unknown or len(lambdas) > 1:
        name = f"--{unknown[0].replace('_', '-')}" if unknown else "more than one lambda"
        raise UsageError(
            f"{name} is for stages, not for controls",
            where="control",
            fix="leave it out; a control takes --batch, --steps, --lambda, --gamma, --chains "
            "and --seed",
        )
    given: dict[str, Any] = {
        "batch": options.batch,
        "steps": read_if_given(SIZES, options.steps, "--steps"),
        "lam": next(iter(lambdas), None),
        "gamma": options.gamma,
    }
    return replace(control, **{name: value for name, value in given.items() if value is not None})


def _request(options: ProbeOptions) -> dict[str, Any]:
    names = ("batch", "gamma", "chains", "chain_steps", "advantages", "start", "seed")
    return {
        **{name: getattr(options, name) for name in names},
        "steps": read_if_given(SIZES, options.steps, "--steps"),
        "lam": read_if_given(PROBABILITIES, options.lam, "--lambda"),
    }


def _memory(options: ProbeOptions) -> int:
    return int(MEMORY.read(options.memory, "--memory"))


def _keep(data: dict[str, Any], options: ProbeOptions) -> None:
    if options.out is not None:
        out = resolved(options.out)
        make_folder(out)
        write_sealed(out / MEASURED.name, data, kind=MEASURED.kind)


def _write_page(record: MeasurementRecord, options: ProbeOptions) -> Path | None:
    """Write the page beside the kept measurement, and return where it is."""
    if options.out is None:
        return None
    path = resolved(options.out) / PAGE.name
    measurement_page(record).write(path)
    return path


def _show_path(page: Path | None) -> None:
    if page is not None:
        show(f"report: {page}")


_OVERVIEW = """\
* best for the actor   = tied with it   [95 % interval]
alignment: what is left of a step in the right direction, at most 1
ESS/NT: what a sample is worth in independent ones
"""


def _show(data: MeasurementRecord, *, full: bool) -> None:
    """Print the verdict, then the numbers: those that matter most, or all."""
    for objective in OBJECTIVES:
        show(verdict(data, objective))
    pool, seconds = data.pool, data.engine.wall_seconds
    if full:
        _show_all(data)
        show("* best by alignment   = tied with it   [95 % interval]   ~ approximate")
    else:
        show(overview_table(data), "")
        if len(data.lambdas) > 1:
            show(surface_table(data), "")
        show(_OVERVIEW)
    for line in reasons(data):
        show(line)
    more = "" if full else "; --full shows all of it"
    show(f"Rests on {pool.chains} chains of {pool.steps} steps ({seconds:.1f} s){more}.")


def _show_all(data: MeasurementRecord) -> None:
    pool, engine = data.pool, data.engine
    rows = [
        ("env", f"{data.env}, gamma {data.gamma:g}, lambda {data.lam:g}"),
        ("advantages", f"{data.advantages}; start: {data.start}"),
        ("pool", f"{pool.chains} chains x {pool.steps} steps, {pool.samples:,} in all"),
        ("critic", f"explained variance {both(data.critic.explained_variance)}"),
        ("gradients", f"{engine.gradients}; total: {engine.total}"),
    ]
    if data.precision.reached is not None:
        word = "reached" if data.precision.reached else "not reached with --max-samples"
        rows.append(("precision", f"{data.precision.asked:g} {word}"))
    show("", facts_table(rows), "")
    for objective in OBJECTIVES:
        show(direction_table(data, objective), "", noise_table(data, objective), "")
    if len(data.lambdas) > 1:
        show(surface_table(data), "")
    show(lag_table(data), "")
    phases = phase_table(data)
    if phases is not None:
        show(phases, "")
    for layout in data.sources.layouts or ():
        show(source_table(layout, "actor"), "", source_table(layout, "critic"), "")
