"""Laws under violence: killed at any instant or out of disk, what was saved still loads."""

import json
import subprocess
import sys
from pathlib import Path

import pytest

# Each script runs in its own process, because it forks, dies, or limits itself.
PRELUDE = """
import json, os, random, resource, signal, sys, time
from pathlib import Path
import numpy as np
from nbyt.store.files import CHECKPOINT, METRICS, RESULT, STAGE
from nbyt.store.run import load_stage, open_run, verify
from nbyt.errors import DiskError
from tests.store import kept
run = open_run(Path(sys.argv[1]), {"seed": 0})

def content(i):
    return {"w": np.full(20_000, i, np.float32)}, {**kept.stage(i), **kept.checkpoint(i)}

def number(pair):
    return pair[1]["updates"] if isinstance(pair[1], dict) else pair[1].updates

def consistent(pair):
    return bool((pair[0]["w"] == number(pair)).all())
"""

KILL = (
    PRELUDE
    + """
random.seed(20)
run.write(CHECKPOINT, content(0))
seen = []
for _ in range(20):
    child = os.fork()
    if child == 0:
        i = number(run.read(CHECKPOINT))
        while True:
            i += 1
            run.write(CHECKPOINT, content(i))
    time.sleep(random.uniform(0.01, 0.12))
    os.kill(child, signal.SIGKILL)
    os.waitpid(child, 0)
    pair = run.read(CHECKPOINT)
    assert consistent(pair) and verify(run.path) == [], verify(run.path)
    seen.append(number(pair))
open_run(run.path, {"seed": 0})
run.write(CHECKPOINT, content(1))
print(json.dumps({"seen": seen, "files": sorted(os.listdir(run.path))}))
"""
)

DIE_AT = (
    PRELUDE
    + """
NAMES = ("open", "fsync", "replace", "rename", "unlink", "mkdir", "rmdir")
REAL = {name: getattr(os, name) for name in NAMES}

def die_before(call):
    count = 0
    def wrap(real):
        def called(*args, **kwargs):
            nonlocal count
            count += 1
            if count == call:
                os._exit(9)
            return real(*args, **kwargs)
        return called
    for name, real in REAL.items():
        setattr(os, name, wrap(real))

def outcomes(save, load):
    found = []
    for call in range(1, 100):
        save(0)
        child = os.fork()
        if child == 0:
            die_before(call)
            save(1)
            os._exit(0)
        status = os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
        assert verify(run.path) == [], (call, verify(run.path))
        found.append(load())
        open_run(run.path, {"seed": 0})
        assert not list(run.path.glob(".*.tmp"))
        if status == 0:
            return found

def checkpoint():
    pair = run.read(CHECKPOINT)
    assert consistent(pair)
    return number(pair)

def stage():
    if not run.path_of(STAGE, 1).exists():
        return None
    pair = load_stage(run.path_of(STAGE, 1))
    assert consistent(pair)
    return number(pair)

print(json.dumps({
    "checkpoint": outcomes(lambda i: run.write(CHECKPOINT, content(i)), checkpoint),
    "stage": outcomes(lambda i: run.write(STAGE, content(i), 1), stage),
}))
"""
)

FULL = (
    PRELUDE
    + """
run.write(CHECKPOINT, content(1))
run.write(STAGE, content(1), 1)
run.write(RESULT, kept.RESULT)
before = {str(p): p.read_bytes() for p in run.path.rglob("*") if p.is_file()}
resource.setrlimit(resource.RLIMIT_FSIZE, (30_000, 30_000))
messages = []
for save in (
    lambda: run.write(CHECKPOINT, content(2)),
    lambda: run.write(STAGE, content(2), 1),
    lambda: run.write(STAGE, content(2), 2),
    lambda: run.write(RESULT, {"a": "x" * 50_000}),
    lambda: run.write(METRICS, [{"a": i} for i in range(20_000)]),
):
    try:
        save()
    except DiskError as error:
        messages.append([str(error), error.exit_code])
after = {str(p): p.read_bytes() for p in run.path.rglob("*") if p.is_file()}
print(json.dumps({"messages": messages, "same": before == after, "bad": verify(run.path)}))
"""
)


def outcome(script: str, folder: Path) -> dict:
    done = subprocess.run(
        [sys.executable, "-c", script, str(folder)], capture_output=True, text=True, timeout=60
    )
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


@pytest.mark.skipif(sys.platform == "win32", reason="needs fork")
def test_a_checkpoint_survives_kill_9(tmp_path: Path) -> None:
    result = outcome(KILL, tmp_path / "run")
    assert result["seen"] == sorted(result["seen"]), "a saved checkpoint was lost"
    assert result["seen"][-1] > 20, "the writer never wrote: the test has no power"
    assert len(result["files"]) == 3, "leftovers were not swept"


@pytest.mark.skipif(sys.platform == "win32", reason="needs fork")
def test_a_save_may_die_before_any_system_call(tmp_path: Path) -> None:
    result = outcome(DIE_AT, tmp_path / "run")
    checkpoint, stage = result["checkpoint"], result["stage"]
    assert checkpoint[0] == 0 and checkpoint[-1] == 1 and checkpoint == sorted(checkpoint)
    assert len(checkpoint) > 8
    assert stage[0] == 0 and stage[-1] == 1
    # Between two renames the stage is away, and the resumed run writes it again; never damaged.
    assert stage.count(None) == 1 and len(stage) > 8


@pytest.mark.skipif(sys.platform == "win32", reason="needs RLIMIT_FSIZE")
def test_a_full_disk_keeps_what_was_there(tmp_path: Path) -> None:
    result = outcome(FULL, tmp_path / "run")
    assert result["same"] and result["bad"] == []
    names = ["checkpoint-", "stage-1", "stage-2", "result.json", "metrics.csv"]
    assert len(result["messages"]) == len(names)
    for (message, exit_code), name in zip(result["messages"], names, strict=True):
        assert str(tmp_path / "run") in message and name in message
        assert "bytes needed" in message and exit_code == 1
