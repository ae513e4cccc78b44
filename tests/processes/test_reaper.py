"""The law of the reaper: nobody who was kept outlives the driver, and nobody else is touched."""

import subprocess
import sys
import time

from benchmarks.sweep.processes import Family

from nbyt.system import ProcessTree

# A driver with three processes: two that are kept, each in its way, and one that is not. The first
# has started two others that have left its group, one of them through a process that has gone.
DRIVER = """
import os, subprocess, sys
from nbyt.system import MARK, own_group
from nbyt.processes.reaper import ProcessReaper

WAITING = "import time; print(flush=True); time.sleep(60)"
LEADER = '''
import subprocess, sys
from nbyt.system import own_group
waiting = [sys.executable, "-c", sys.argv[1]]
subprocess.Popen(waiting, **own_group())
start = "import subprocess, sys; subprocess.Popen(sys.argv[1:], start_new_session=True)"
subprocess.run([sys.executable, "-c", start, *waiting])
import time; time.sleep(60)
'''

def start(*words, mark=""):
    environ = {**os.environ, MARK: mark} if mark else None
    process = subprocess.Popen(
        [sys.executable, "-c", *words], stdout=subprocess.PIPE, env=environ, **own_group()
    )
    process.stdout.readline()
    return process.pid

reaper = ProcessReaper()
reaper.keep(start(LEADER, WAITING, mark="ours"), "ours")
reaper.keep_one(start(WAITING))
gone = subprocess.Popen([sys.executable, "-c", ""], **own_group())
reaper.keep(gone.pid)
reaper.end(gone)
print(start(WAITING), flush=True)
sys.stdin.read()
"""


def test_whoever_was_kept_ends_with_a_driver_that_is_killed() -> None:
    family = Family()
    driver = subprocess.Popen(
        [sys.executable, "-c", DRIVER],
        env=family.environment,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
    )
    assert driver.stdout is not None
    free = int(driver.stdout.readline())
    assert len(family.alive()) == 7, "the driver, its reaper and five others"
    driver.kill()
    driver.communicate()
    ends = time.monotonic() + 10
    while len(left := family.alive()) > 1 and time.monotonic() < ends:
        time.sleep(0.05)
    ProcessTree(free).kill()
    assert set(left) == {free}
