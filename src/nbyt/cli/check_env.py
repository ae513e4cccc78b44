"""`nbyt check-env`: does this environment keep its promises?"""

from typing import Annotated

from cyclopts import Parameter
from rich.text import Text

from nbyt.cli.options import Common
from nbyt.cli.output import Outcome, facts_table, show, talk, warn
from nbyt.envs import resolve
from nbyt.envs.checks import Report, check
from nbyt.numbers import Count, Seed
from nbyt.store.text import plain
from nbyt.train import hardware


def run(
    env: str,
    *,
    seed: Seed = 0,
    steps: Count = 200,
    common: Annotated[Common, Parameter(name="*")] = Common(),
) -> Outcome:
    """Check an environment: spaces, numbers, seeding, resets, time limit, speed.

    All faults are listed at once; the exit code is 1 if there are any.

    Parameters
    ----------
    env
        tabular:, gymnax:, gym: or envpool: and a name, package.module:make_env, or a bare name.
    seed
        Seed of the trial run.
    steps
        Steps of the trial run.
    """
    hardware.prepare(quiet=common.quiet)
    console = talk(quiet=common.quiet)
    found = resolve(env)
    with console.status(Text(f"checking {found.id}")):
        report = check(found, seed=seed, steps=steps)
    warn(console, report.notes)
    if not common.json:
        _show(report)
    failed = bool(report.faults)
    return Outcome(
        _data(report), list(report.notes), "failed" if failed else "ok", 1 if failed else 0
    )


def _data(report: Report) -> dict[str, object]:
    return {
        "env": report.id,
        "kind": report.kind,
        "observation": report.observation,
        "action": report.action,
        "autoreset": report.autoreset,
        "time_limit": report.time_limit,
        "copyable": report.copyable,
        "steps_per_second": {str(n): speed for n, speed in report.steps_per_second.items()},
        "faults": [
            {"code": fault.code, "message": plain(fault.message), "fix": plain(fault.fix)}
            for fault in report.faults
        ],
    }


def _show(report: Report) -> None:
    rows = [
        ("env", f"{report.id} ({report.kind})"),
        ("observation", report.observation),
        ("action", report.action),
        ("autoreset", report.autoreset),
        ("time limit", f"{report.time_limit} steps" if report.time_limit else "none"),
        ("state", "can be copied" if report.copyable else "cannot be copied"),
    ]
    rows += [
        (f"speed, {n} env{'s' if n > 1 else ''}", f"{speed:,.0f} steps/s")
        for n, speed in report.steps_per_second.items()
    ]
    show(facts_table(rows))
    if not report.faults:
        show(Text("no faults found", style="green"))
    for fault in report.faults:
        show(Text(f"fault {fault.code}: ", style="bold red") + Text(plain(fault.message)))
        show(Text(f"  fix: {plain(fault.fix)}"))
