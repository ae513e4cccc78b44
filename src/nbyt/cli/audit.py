"""`nbyt audit`: is every epoch of a sampler a fresh uniform shuffle with each sample once?"""

from collections.abc import Callable
from dataclasses import dataclass
from itertools import groupby
from pathlib import Path
from typing import Annotated, Any, Literal

from cyclopts import Parameter
from rich.console import Console
from rich.text import Text

from nbyt.cli.options import env_of
from nbyt.cli.output import Common, Outcome, dry_run, facts_table, show, talk, warn
from nbyt.envs import resolve
from nbyt.envs.user_code import imported
from nbyt.measure.auditing import ENV, brief_stage, measured_cost, planned
from nbyt.minibatch import Audit, audit, sampler_of
from nbyt.minibatch.epochs import audit_sizes, default_split
from nbyt.minibatch.schemes import find
from nbyt.numbers import Passes, Seed, Size
from nbyt.policy.files import read_stage, require_env
from nbyt.progress import watched
from nbyt.report.numbers import both
from nbyt.results.values import Estimate, typed
from nbyt.store.text import plain
from nbyt.training import hardware

_RIGHT = "every epoch is a fresh uniform shuffle with each sample exactly once"


@dataclass(frozen=True)
class AuditOptions:
    """Options of `nbyt audit`."""

    envs: Size | None = None
    """Envs of the batch, to distinguish steps of one env from envs at one step."""

    steps: Size | None = None
    """Steps of each env; envs x steps is the batch."""

    order: Literal["time-major", "env-major"] = "time-major"
    """Which sample index t * N + n (time-major) or n * T + t (env-major) is: step t of env n."""

    env: str = ""
    """Env to measure the sampler's cost on; default: the stage's, or CartPole-v1."""

    from_: Path | None = None
    """Folder of a stage to collect with; default: a policy that is trained briefly."""

    trust_env: bool = False
    """Import the env that the stage's file names, even if it is not from a suite."""

    skip_rollout: bool = False
    """Do not measure the sampler's cost; report the formula's value only."""

    strict: bool = False
    """Exit with 1 if there is a fault."""

    seed: Seed = 0
    """Seed of all randomness; the sampler is called with it and the seeds after it."""

    device: Literal["auto", "cpu", "gpu", "tpu"] = "auto"
    """Device that JAX uses."""

    dry_run: bool = False
    """Show what would be measured, then stop; the sampler is not called."""


def run(
    sampler: str,
    *,
    batch: Size,
    minibatch: Size,
    epochs: Passes,
    options: Annotated[AuditOptions, Parameter(name="*")] = AuditOptions(),
    common: Annotated[Common, Parameter(name="*")] = Common(),
) -> Outcome:
    """Check that every epoch of a sampler is a fresh uniform shuffle with each sample once.

    Parameters
    ----------
    sampler
        package.module:name of a function (batch, minibatch, epochs, seed) that yields an array of
        indices for each mini-batch; or the name of a known scheme, such as brax.
    batch
        Samples of a batch, N x T.
    minibatch
        Samples of a mini-batch.
    epochs
        Passes over the batch.
    """
    asked = audit_sizes(batch, minibatch, epochs, options.envs, options.steps, options.order)
    if options.dry_run:
        return dry_run(planned(asked).as_dict(), common)
    envs, steps, order = asked.envs, asked.steps, options.order
    if ":" in sampler:
        thing = imported(sampler, where="sampler", fix="give package.module:sampler")
        function = sampler_of(thing)
    else:
        # A scheme of ours knows how its batch is made, so the audit may know it too.
        envs, steps = (envs, steps) if envs else default_split(batch)
        order = "time-major"
        function = find(sampler).sampler(envs, steps)
    found = audit(
        function,
        batch=batch,
        minibatch=minibatch,
        epochs=epochs,
        seed=options.seed,
        envs=envs or None,
        steps=steps or None,
        order=order,
    )
    console = talk(quiet=common.quiet)
    data = {"sampler": sampler, **found.as_dict()}
    if not options.skip_rollout:
        data |= _measured(function, found, options, console)
    warn(console, list(found.remarks))
    if not common.json:
        _show(data, found)
    failed = options.strict and not found.ok
    return Outcome(
        data, list(found.remarks), "failed" if failed else "ok", exit_code=1 if failed else 0
    )


def _measured(
    function: Callable[..., Any], found: Audit, options: AuditOptions, console: Console
) -> dict[str, Any]:
    hardware.prepare(options.device, quiet=console.quiet)
    stage = read_stage(options.from_) if options.from_ is not None else None
    where = str(options.from_)
    trust = options.trust_env
    env = resolve(env_of(stage, options.env, where, trust=trust) if stage else options.env or ENV)
    with watched(console) as progress:
        if stage is None:
            stage = brief_stage(env, options.seed, progress)
        else:
            require_env(stage, env.id, where)
        costs = measured_cost(function, found, env, stage, seed=options.seed, progress=progress)
    return {
        "variance_penalty": costs["actor"].best.as_dict(),
        "penalties": {part: cost.as_dict() for part, cost in costs.items()},
        "rollouts": {"env": env.id, **planned(found.asked).as_dict()},
    }


def _show(data: dict[str, Any], found: Audit) -> None:
    if found.ok:
        show(Text(f"ok: {_RIGHT}", style="green"))
    else:
        codes = ", ".join(sorted(found.codes))
        show(Text(f"not ok: {codes}", style="bold red"))
    asked = found.asked
    rows = [
        ("sampler", data["sampler"]),
        (
            "asked",
            f"{asked.batch:,} samples in mini-batches of {asked.minibatch:,}, "
            f"{asked.epochs} epochs",
        ),
        ("an epoch gave", _runs(data["minibatch_sizes"])),
        ("coverage", f"{data['coverage']:.1%} of the samples in an epoch"),
    ]
    show(facts_table([*rows, *_penalty_rows(data)]))
    for fault in found.faults:
        show(Text(f"fault {fault.code}: ", style="bold red") + Text(plain(fault.message)))


def _penalty_rows(data: dict[str, Any]) -> list[tuple[str, str]]:
    if "penalties" not in data:
        return [("variance", f"{_estimate(data['variance_penalty'])} by the formula")]
    rows = []
    for part, cost in data["penalties"].items():
        formula = f"; formula {_estimate(cost['formula'])}" if cost["formula"] else ""
        rows.append((f"{part}'s variance", f"measured {_estimate(cost['measured'])}{formula}"))
    rollouts = data["rollouts"]
    shape = f"{rollouts['batches']} batches of {rollouts['envs']} envs x {rollouts['steps']} steps"
    return [
        *rows,
        ("", "times that of shuffled mini-batches of the size asked for"),
        ("measured on", f"{rollouts['env']}, {shape}"),
    ]


def _estimate(number: dict[str, Any]) -> str:
    if number["value"] is not None:
        return both(typed(number, Estimate))
    return f"unknown ({number['reason']})"


def _runs(sizes: list[int]) -> str:
    runs = [f"{len(list(own)):,} x {size:,}" for size, own in groupby(sizes)]
    return "mini-batches: " + ", ".join(runs[:8]) + (", ..." if len(runs) > 8 else "")
