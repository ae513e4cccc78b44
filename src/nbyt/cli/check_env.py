"""`nbyt check-env`: does this environment work as training needs it?

The env runs in a process of its own, which it may end, crash or block; this one imports no JAX.
"""

import sys
from typing import Annotated, Any

from cyclopts import Parameter
from rich.console import Console
from rich.text import Text

from nbyt.advice.request import BATCH
from nbyt.cli.output import Common, Outcome, facts_table, show, show_next, talk, warn
from nbyt.envs.lookup import ENV_HELP
from nbyt.errors import error_from
from nbyt.numbers import DURATION, Count, DurationText, Seed
from nbyt.processes.heartbeat import STEP, HeartbeatState
from nbyt.processes.reaper import ProcessReaper
from nbyt.processes.worker import WorkerProcess, basic_setup
from nbyt.store.text import plain
from nbyt.system import how_it_ended

_MAIN = "nbyt.cli.check_worker"


def run(
    env: Annotated[str, Parameter(help=ENV_HELP)],
    *,
    seed: Seed = 0,
    steps: Count = 200,
    step_limit: DurationText = "60s",
    common: Annotated[Common, Parameter(name="*")] = Common(),
) -> Outcome:
    """Check an environment: spaces, numbers, seeding, resets, time limit, speed.

    All faults are listed at once; the exit code is 1 if there are any. The env runs in a process
    of its own, so hanging, crashing or exiting are reported as faults too.

    Parameters
    ----------
    seed
        Seed of the trial run.
    steps
        Steps of the trial run.
    step_limit
        Longest time that one call of the env may take.
    """
    console = talk(quiet=common.quiet)
    task = {"env": env, "seed": seed, "steps": steps}
    with console.status(Text(f"checking {env}")):
        answer = _answer(task, DURATION.read(step_limit, "--step-limit"))
    for line in answer.get("lines", []):
        talk().print(Text(plain(line), style="dim"), soft_wrap=True)
    if "error" in answer:
        raise error_from(answer["error"])
    data = answer["report"] if "report" in answer else _stopped(env, answer["stopped"])
    for fault in data["faults"]:
        fault |= {"message": plain(fault["message"]), "fix": plain(fault["fix"])}
    return _outcome(data, answer.get("notes", []), console, as_json=common.json)


def _answer(task: dict[str, Any], limit: float) -> dict[str, Any]:
    """Return the worker's answer, or how it ended without one as `stopped`."""
    with ProcessReaper() as reaper:
        worker = WorkerProcess(reaper, _MAIN, basic_setup(sys.path, limit))
        try:
            answer = worker.finish(task)
        finally:
            worker.end()
    return answer["answers"][0] if "answers" in answer else {"stopped": answer}


def _stopped(env: str, how: dict[str, Any]) -> dict[str, Any]:
    state = HeartbeatState(*how["state"])
    number = f" {state.step}" if state.doing == STEP else ""
    place = f"{state.words}{number}" if state.doing else "between two calls"
    if "silent" in how:
        message = f"the env did not return within {how['silent']:g} s {place}"
        code, fix = "hangs", "look for a loop or a lock; a slow env needs a longer --step-limit"
    elif "raised" in how:
        message = f"the env raised {how['raised']} {place}, which ends any program"
        code, fix = "interrupts", "raise an exception of your own instead"
    elif "cut_off" in how:
        message = "the env closed the files of its process, including the pipe for the report"
        code, fix = "closes_files", "close only what the env has opened"
    else:
        message = f"the env's process ended {how_it_ended(how['ended'])} {place}"
        code, fix = "ends_process", "raise an exception instead of ending the process"
        if how["ended"] < 0:
            fix = "debug the simulator; signal 9 often means out of memory"
    return {
        "env": env,
        **dict.fromkeys(("kind", "observation", "action", "autoreset"), "unknown"),
        "time_limit": None,
        "copyable": False,
        "steps_per_second": {},
        "faults": [{"code": code, "message": message, "fix": fix}],
    }


def _outcome(data: dict[str, Any], notes: list[str], console: Console, *, as_json: bool) -> Outcome:
    warn(console, notes)
    if not as_json:
        _show(data)
    failed = bool(data["faults"])
    return Outcome(data, notes, "failed" if failed else "ok", 1 if failed else 0)


def _show(data: dict[str, Any]) -> None:
    rows = [
        ("env", f"{data['env']} ({data['kind']})"),
        ("observation", data["observation"]),
        ("action", data["action"]),
        ("autoreset", data["autoreset"]),
        ("time limit", f"{data['time_limit']} steps" if data["time_limit"] else "none"),
        ("state", "can be copied" if data["copyable"] else "cannot be copied"),
    ]
    if data["kind"] == "unknown":
        rows = [("env", data["env"])]
    rows += [
        (f"speed, {n} env{'s' if n != '1' else ''}", f"{speed:,.0f} steps/s")
        for n, speed in data["steps_per_second"].items()
    ]
    show(facts_table(rows))
    if not data["faults"]:
        show(Text("no faults found", style="green"))
        show_next("advise", data["env"], "--batch", BATCH)
    for fault in data["faults"]:
        show(Text(f"fault {fault['code']}: ", style="bold red") + Text(fault["message"]))
        show(Text(f"  fix: {fault['fix']}"))
