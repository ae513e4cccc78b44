"""Laws of the lock: one at a time, whoever dies lets go, with the locks of POSIX and of Windows."""

import subprocess
import sys
from pathlib import Path

import pytest

pytest.importorskip("fcntl", reason="Windows locks in its own way, for which this has a stand-in")

# Windows' lock has a stand-in with what its documentation promises: bytes from the file's position
# on, EDEADLK where they are not free for a while, free again when the file is closed.
WINDOWS = """
import errno, os, sys, time, types
import fcntl
from nbyt.store import paths

def locking(descriptor, mode, size):
    assert mode == 1
    start = os.lseek(descriptor, 0, os.SEEK_CUR)
    try:
        fcntl.lockf(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB, size, start)
    except OSError:
        time.sleep(0.001)
        raise OSError(errno.EDEADLK, "") from None

sys.modules["fcntl"] = None
sys.modules["msvcrt"] = types.SimpleNamespace(locking=locking, LK_LOCK=1)
"""
COUNT = """
import os, sys
from pathlib import Path
from nbyt.store.paths import locked

folder, turns = Path(sys.argv[1]), int(sys.argv[2])
for turn in range(turns):
    with locked(folder / "some.lock"):
        count = int((folder / "count").read_text()) + 1
        (folder / "count").write_text(str(count))
        if turn == turns - 1:
            os._exit(0)  # inside the lock
"""


@pytest.mark.parametrize("prelude", ["", WINDOWS], ids=["posix", "windows"])
def test_nobody_is_inside_beside_another_and_whoever_dies_lets_go(
    tmp_path: Path, prelude: str
) -> None:
    (tmp_path / "count").write_text("0")
    words = [sys.executable, "-c", prelude + COUNT, str(tmp_path), "200"]
    processes = [subprocess.Popen(words) for _ in range(3)]
    assert [process.wait(timeout=60) for process in processes] == [0, 0, 0]
    assert (tmp_path / "count").read_text() == "600"


WORK = """
import sys, time
from pathlib import Path
from nbyt.errors import StoreError
from nbyt.store import paths

paths._PATIENCE = float(sys.argv[2])
try:
    with paths.at_work(Path(sys.argv[1])):
        print("at work", flush=True)
        sys.stdin.read()
except StoreError as error:
    print(error.message, flush=True)
"""


def test_a_second_command_is_refused_until_the_first_has_ended_or_died(tmp_path: Path) -> None:
    def started(patience: float) -> subprocess.Popen[str]:
        words = [sys.executable, "-c", WORK, str(tmp_path), str(patience)]
        pipes = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE}
        return subprocess.Popen(words, text=True, **pipes)

    def said(process: subprocess.Popen[str]) -> str:
        assert process.stdout is not None
        return process.stdout.readline()

    with started(0) as first:
        assert said(first) == "at work\n"
        with started(0) as second:
            assert said(second) == f"another nbyt command is at work in {tmp_path}\n"
        with started(60) as patient:
            first.kill()
            assert said(patient) == "at work\n"
            patient.communicate("")
    with started(0) as third:
        assert said(third) == "at work\n"
        third.communicate("")
    assert list(tmp_path.iterdir()) == []
