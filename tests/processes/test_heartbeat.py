"""A heartbeat is read by another process, and leaves no file behind."""

import subprocess
import sys

import pytest

from nbyt.processes.heartbeat import CLOSE, RESET, STEP, Heartbeat

CHILD = """
import sys
from nbyt.processes.heartbeat import STEP, Heartbeat

heartbeat = Heartbeat.joined(sys.argv[1])
heartbeat.begin(5)
with heartbeat.calling(STEP, turns=3, step=7):
    heartbeat.place[0] = 2
    print(flush=True)
    sys.stdin.readline()
print(flush=True)
sys.stdin.readline()
"""


def test_what_one_process_writes_another_reads() -> None:
    heartbeat = Heartbeat.new()
    child = subprocess.Popen(
        [sys.executable, "-c", CHILD, str(heartbeat.path)],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    )
    child.stdout.readline()
    state = heartbeat.read()
    assert not heartbeat.path.exists(), "who joined it has taken its name away"
    child.stdin.write("\n")
    child.stdin.flush()
    child.stdout.readline()
    after = heartbeat.read()
    child.communicate("\n", timeout=60)
    assert (state.words, state.turns, state.calls) == ("in step", 3, 1)
    assert state.where == "env 2, step 7, training seed 5"
    assert after == state._replace(doing=0)
    heartbeat.remove()


def test_a_call_is_over_when_it_raises() -> None:
    heartbeat = Heartbeat.new()
    with pytest.raises(KeyError, match="in reset"), heartbeat.calling(RESET):
        raise KeyError(heartbeat.read().words)
    assert heartbeat.read().words == ""
    with heartbeat.calling(STEP, step=4), heartbeat.calling(CLOSE):
        assert heartbeat.read().calls == 3
    heartbeat.remove()
    assert not heartbeat.path.exists()
