"""Every command on every hostile env: what was tried, what came of it, and whether that is right.

    python -m benchmarks.soak.hostile_envs [COMMAND...] [--only NAME...]

The envs are those of `tests.faults.hostile_envs`. Envs that cannot harm their process are tried in
one process for each command, the others in a process each. Right is: the expected exit code, one
JSON object on stdout, no traceback, nobody left behind, and no wait beyond the limit.
"""

import json
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from tests.faults import hostile_envs

from benchmarks.sweep.processes import Family

ROOT = Path(__file__).parents[2]
LIMIT = 120.0  # seconds that a command may take
STEP_LIMIT = 2.0  # seconds that a step may take, instead of 60
_ENVS = "tests.faults.hostile_envs"
_MAKE = f"{_ENVS}:make"
_SIZES = "--envs 2 --steps 16 --minibatch 16 --epochs 1 --total 1280 --network 8"
_BATCH = "--batch 32 --effort quick --total 640 --stages 1 --minibatch 16"
COMMANDS = {
    "check-env": f"check-env ENV --steps 40 --step-limit {STEP_LIMIT:g}s",
    "train": f"train ENV {_SIZES} --out OUT",
    "train async": f"train ENV {_SIZES} --vector async --out OUT",
    "probe": "probe STAGE --env MAKE --batch 32 --chains 8 --skip-phase",
    "advise": f"advise ENV {_BATCH} --out OUT",
}
_FOR_ADVISE = ("observation_shape", "reward_big", "four_values", "observation_space_huge")
_FOR_ADVISE += ("build_base", "reset_unspeakable", "step_base", "close_raise")
# Watched like all others, with less patience.
_RUN = f"""
import sys
from nbyt.envs.gymnasium_suite import GymnasiumEnv
GymnasiumEnv.start.__kwdefaults__["step_seconds"] = {STEP_LIMIT}
"""
_ALONE = f"{_RUN}\nfrom nbyt.cli.main import main\nmain()"
_TOGETHER = f"{_RUN}\nfrom benchmarks.soak.hostile_envs import run_together\nrun_together()"


@dataclass(frozen=True)
class Tried:
    """One command on one env; left: processes that were still there; said: the error."""

    command: str
    env: str
    exit_code: int | None
    seconds: float
    traceback: bool
    json: bool
    left: int
    said: str
    right: bool


def names(command: str) -> Iterator[tuple[str, bool]]:
    """The envs to try with a command, and whether they leave their process alone."""
    if command == "advise":  # takes half a minute where nothing goes wrong
        yield from ((name, True) for name in _FOR_ADVISE)
        yield from ((f"step_{deed}", False) for deed in ("exit", "sleep", "print"))
        return
    yield from ((lie, True) for lie in hostile_envs.LIES)
    yield from ((f"step_{deed}", True) for deed in hostile_envs.ENDS)
    others = [deed for deed in hostile_envs.DEEDS if deed not in hostile_envs.ENDS]
    if command != "check-env":  # who kills the command itself leaves its orphans: documented
        others.remove("orphans")
    yield from ((f"step_{deed}", False) for deed in others)
    for place in ("build", "reset", "close"):
        yield from ((f"{place}_{deed}", True) for deed in ("raise", "unspeakable", "base"))
        yield f"{place}_exit", False


def allowed(command: str, env: str) -> set[int]:
    """The exit codes that are right."""
    place, _, deed = env.partition("_")
    if env in hostile_envs.LIES:
        return _of_lies(command, env)
    if deed in hostile_envs.MISCHIEF:
        return {0}
    if command == "check-env":
        return {1, 2}
    if deed in hostile_envs.STOPS:
        return {130} if command != "train async" else {1}
    if deed in hostile_envs.KILLS and (command != "train async" or place in ("build", "close")):
        return {3, -9, -11, -6, 1}
    if deed == "deadlock" and command != "train async":
        return {-9}  # nothing in the process can end it: documented
    if deed in hostile_envs.CUTS:
        return set(range(-64, 256))
    return {1, 2}


def _of_lies(command: str, env: str) -> set[int]:
    # What NumPy takes for numbers is trained with; check-env tells.
    lenient = ("observation_complex", "terminated_", "info_none", "reset_info_none", "reward_")
    if command != "check-env" and env.startswith(lenient):
        return {0, 1}
    return {0, 1, 2} if env in ("observation_space_empty", "spaces_change") else {1, 2}


def run_together() -> None:
    """Run command after command in this process: an env's name and the words, a line of JSON each.

    What came of it is a line of JSON too: exit code, seconds, stdout and stderr.
    """
    import contextlib
    import io
    import traceback

    from nbyt.cli import main

    for line in sys.stdin:
        os.environ["NBYT_TEST_HOSTILE"], words = json.loads(line)
        out, err = io.StringIO(), io.StringIO()
        began = time.monotonic()
        with contextlib.redirect_stdout(out), contextlib.redirect_stderr(err):
            try:
                code = main.run(words)
            except BaseException:
                traceback.print_exc()
                code = 1
        found = [
            code,
            time.monotonic() - began,
            out.getvalue()[-(10**6) :],
            err.getvalue()[-(10**5) :],
        ]
        sys.__stdout__.write(json.dumps(found) + "\n")  # type: ignore[union-attr]
        sys.__stdout__.flush()  # type: ignore[union-attr]


def try_all(commands: list[str], only: list[str], folder: Path) -> list[Tried]:
    """Every command on every env."""
    stage = _stage(folder)
    found = []
    for command in commands:
        chosen = [(env, safe) for env, safe in names(command) if not only or env in only]
        words = {env: _words(command, env, folder, stage) for env, _ in chosen}
        safe = [env for env, harmless in chosen if harmless]
        found += _together(command, {env: words[env] for env in safe})
        for env, harmless in chosen:
            if not harmless:
                found.append(_alone(command, env, words[env]))
                _tell(found[-1])
    return found


def _words(command: str, env: str, folder: Path, stage: Path) -> list[str]:
    out = folder / f"{command}-{env}".replace(" ", "-")
    known = {"ENV": f"{_ENVS}:{env}", "OUT": str(out), "STAGE": str(stage), "MAKE": _MAKE}
    return [known.get(word, word) for word in COMMANDS[command].split()] + ["--json"]


def _stage(folder: Path) -> Path:
    """A stage of `make`, which is harmless unless it is told otherwise."""
    out = folder / "harmless"
    words = ["train", _MAKE, *_SIZES.split(), "--out", str(out), "--json"]
    environ = {**os.environ, **_environ("harmless")}
    subprocess.run(
        [sys.executable, "-c", _ALONE, *words],
        cwd=ROOT,
        check=True,
        env=environ,
        capture_output=True,
    )
    return out / "stage-1"


def _environ(env: str) -> dict[str, str]:
    path = os.pathsep.join([str(ROOT / "src"), str(ROOT)])
    return {"PYTHONPATH": path, "JAX_PLATFORMS": "cpu", "NBYT_TEST_HOSTILE": env}


def _together(command: str, words: dict[str, list[str]]) -> list[Tried]:
    if not words:
        return []
    family = Family()
    with subprocess.Popen(
        [sys.executable, "-c", _TOGETHER],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        cwd=ROOT,
        env={**family.environment, **_environ("harmless")},
    ) as process:
        assert process.stdin is not None and process.stdout is not None
        found = []
        for env, line in words.items():
            process.stdin.write(json.dumps([env, line]).encode() + b"\n")
            process.stdin.flush()
            code, seconds, out, err = json.loads(process.stdout.readline())
            left = len(family.alive()) - 1 if command == "check-env" else 0
            found.append(_judged(command, env, code, seconds, out, err, left))
            _tell(found[-1])
        process.stdin.close()
    return found


def _alone(command: str, env: str, words: list[str]) -> Tried:
    family, began = Family(), time.monotonic()
    with tempfile.TemporaryFile() as out, tempfile.TemporaryFile() as err:
        process = subprocess.Popen(
            [sys.executable, "-c", _ALONE, *words],
            stdin=subprocess.DEVNULL,
            stdout=out,
            stderr=err,
            cwd=ROOT,
            env={**family.environment, **_environ(env)},
        )
        try:
            code = process.wait(LIMIT if not env.endswith("deadlock") else 20)
        except subprocess.TimeoutExpired:
            process.kill()
            code = process.wait()
        seconds = time.monotonic() - began
        out.seek(0)
        err.seek(0)
        said, told = (stream.read().decode(errors="replace") for stream in (out, err))
    family.seconds_until_gone(2)
    left = family.alive()
    for pid in left:
        os.kill(pid, 9)
    # What the env has started is the env's to end, but in a worker.
    own = env.endswith(("session", "daemon", "fork_sleeper")) and command != "check-env"
    # Where the main process was killed from outside or by the env, async workers follow soon.
    return _judged(command, env, code, seconds, said, told, 0 if own else len(left))


def _judged(
    command: str, env: str, code: int, seconds: float, out: str, err: str, left: int
) -> Tried:
    trace = "Traceback (most recent call last)" in err
    record = _record(out)
    codes = allowed(command, env)
    died = code < 0 or (env.endswith(("_exit", "close_all")) and command != "check-env")
    right = code in codes and (record is not None or died) and not left
    right = right and (not trace or (command == "train async" and env.startswith("build")))
    return Tried(
        command, env, code, round(seconds, 2), trace, record is not None, left,
        _said(record, err), right,
    )  # fmt: skip


def _record(out: str) -> dict[str, Any] | None:
    lines = out.splitlines()
    try:
        return json.loads(lines[0]) if len(lines) == 1 else None
    except ValueError:
        return None


def _said(record: dict[str, Any] | None, err: str) -> str:
    if record is None:
        return (err.strip().splitlines() or [""])[-1][:200]
    faults = (record["data"] or {}).get("faults") or []
    error = record.get("error") or {}
    return (error.get("message") or "; ".join(fault["message"] for fault in faults))[:200]


def _tell(tried: Tried) -> None:
    sign = "ok  " if tried.right else "FAIL"
    print(f"{sign} {tried.command:11} {tried.env:24} {tried.exit_code} {tried.seconds:6.1f}s "
          f"{'trace ' if tried.traceback else ''}{'' if tried.json else 'no-json '}"
          f"{f'left {tried.left} ' if tried.left else ''}{tried.said[:150]}",
          file=sys.stderr, flush=True)  # fmt: skip


def run(commands: list[str] | None = None, only: list[str] | None = None) -> dict[str, Any]:
    """Counts, and every trial, as JSON holds them."""
    began = time.monotonic()
    with tempfile.TemporaryDirectory() as folder:
        found = try_all(commands or list(COMMANDS), only or [], Path(folder))
    return {
        "tried": len(found),
        "right": sum(tried.right for tried in found),
        "tracebacks": sum(tried.traceback for tried in found),
        "left_behind": sum(tried.left for tried in found),
        "seconds": round(time.monotonic() - began, 1),
        "faults": [f"{one.command} on {one.env}: {one}" for one in found if not one.right],
        "trials": [asdict(tried) for tried in found],
    }


def main() -> None:
    """Try what the command line names, or everything; print JSON."""
    words = sys.argv[1:]
    at = words.index("--only") if "--only" in words else len(words)
    counts = run(words[:at], words[at + 1 :])
    print(json.dumps(counts, indent=1))
    sys.exit(0 if counts["right"] == counts["tried"] else 1)


if __name__ == "__main__":
    main()
