"""Laws of cores, memory and process trees."""

import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from benchmarks.sweep.processes import Family

from nbyt.system import (
    ProcessTree,
    descendants,
    instruction_sets,
    own_group,
    usable_cores,
)

NOWHERE = Path("/nowhere")
# A process whose child leads a group of its own, so that only the tree finds it; both wait.
TREE = """
import subprocess, sys
child = [sys.executable, "-c", "import time; print(flush=True); time.sleep(60)"]
subprocess.Popen(child, start_new_session=True, stdout=subprocess.PIPE).stdout.readline()
print(flush=True)
sys.stdin.read()
"""
ALONE = """
import os, psutil
from nbyt.system import usable_cores
os.sched_setaffinity(0, {min(os.sched_getaffinity(0))})
print(usable_cores())
if hasattr(psutil.Process, "cpu_affinity"):
    del psutil.Process.cpu_affinity
print(usable_cores(), psutil.cpu_count())
"""
KEEPING = """
from nbyt.system import resident_bytes
print(resident_bytes())
kept = b"1" * 2**26
print(resident_bytes())
"""


def free_cores() -> int:
    """The cores of this process where no cgroup limits them."""
    return usable_cores(NOWHERE, NOWHERE)


def write(root: Path, **files: str) -> None:
    root.mkdir(parents=True, exist_ok=True)
    for name, text in files.items():
        (root / name.replace("__", ".")).write_text(text)


@pytest.mark.skipif(not hasattr(os, "sched_setaffinity"), reason="no affinity mask here")
def test_cores_are_those_of_the_affinity_mask_and_all_where_there_is_none() -> None:
    done = subprocess.run([sys.executable, "-c", ALONE], capture_output=True, text=True)
    masked, unmasked, cores = map(int, done.stdout.split())
    assert masked == 1, done.stderr
    # In a container the second may be less than all cores: a quota holds without a mask too.
    assert 1 <= unmasked <= cores


@pytest.mark.parametrize(
    ("quota", "most"), [(1_000, 1), (100_000, 1), (100_001, 2), (10**9, 10**4)]
)
@pytest.mark.parametrize("version", [1, 2])
def test_cores_are_at_most_the_quota_of_the_cgroup(
    tmp_path: Path, version: int, quota: int, most: int
) -> None:
    if version == 2:
        write(tmp_path / "pod", cpu__max=f"{quota} 100000\n")
        line = "0::/pod\n"
    else:
        files = {"cpu__cfs_quota_us": f"{quota}\n", "cpu__cfs_period_us": "100000\n"}
        write(tmp_path / "cpu,cpuacct" / "pod", **files)
        line = "5:memory:/\n4:cpu,cpuacct:/pod\n"
    membership = tmp_path / "cgroup"
    membership.write_text(line)
    assert usable_cores(tmp_path, membership) == min(free_cores(), most)


@pytest.mark.parametrize("path", ["/pod/inner", "/host/name/of/pod"])
def test_limits_above_a_cgroup_hold_and_those_of_others_do_not(tmp_path: Path, path: str) -> None:
    write(tmp_path, cpu__max="100000 100000")
    write(tmp_path / "pod" / "inner", cpu__max="max 100000")
    write(tmp_path / "other", cpu__max="1 100000")
    membership = tmp_path / "cgroup"
    membership.write_text(f"0::{path}\n")
    assert usable_cores(tmp_path, membership) == 1
    write(tmp_path, cpu__max="max 100000")
    assert usable_cores(tmp_path, membership) == free_cores()


def test_version_1_has_no_limit_where_its_quota_is_negative(tmp_path: Path) -> None:
    write(tmp_path / "cpu", cpu__cfs_quota_us="-1\n", cpu__cfs_period_us="100000\n")
    membership = tmp_path / "cgroup"
    membership.write_text("1:cpu:/\n0::/\n")
    assert usable_cores(tmp_path, membership) == free_cores()


def test_memory_grows_with_what_is_kept() -> None:
    # In a fresh process: one that ran other tests has freed memory that it may use again.
    done = subprocess.run([sys.executable, "-c", KEEPING], capture_output=True, text=True)
    before, after = map(int, done.stdout.split())
    assert 2**25 < after - before < 2**27, done.stderr


@pytest.fixture
def tree() -> tuple[Family, subprocess.Popen]:
    """A process with a child, and whoever knows whether any of them is alive."""
    family = Family()
    process = subprocess.Popen(
        [sys.executable, "-c", TREE],
        env=family.environment,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        **own_group(),
    )
    assert process.stdout is not None
    process.stdout.readline()
    return family, process


@pytest.mark.parametrize("groups", [True, False])
def test_a_killed_tree_leaves_nobody(
    tree: tuple[Family, subprocess.Popen], monkeypatch: pytest.MonkeyPatch, groups: bool
) -> None:
    family, process = tree
    assert descendants(process.pid) == [pid for pid in family.alive() if pid != process.pid]
    if not groups:
        monkeypatch.delattr(os, "killpg", raising=False)
    ProcessTree(process.pid).kill()
    process.communicate()
    assert family.seconds_until_gone(10) is not None


def test_a_tree_that_has_gone_is_killed_without_a_word() -> None:
    ended = subprocess.Popen([sys.executable, "-c", ""])
    tree = ProcessTree(ended.pid)
    ended.wait()
    tree.kill()
    tree.kill_root()
    assert descendants(ended.pid) == []


def test_instruction_sets_are_read_or_asked_of_numpy(tmp_path: Path) -> None:
    own = tmp_path / "cpuinfo"
    own.write_text("processor: 0\nflags\t\t: fpu sse4_2 avx2\nprocessor: 1\nflags\t\t: fpu\n")
    assert instruction_sets(own).endswith("['fpu', 'sse4_2', 'avx2']")
    assert str(np.show_config(mode="dicts")["SIMD Extensions"]) in instruction_sets(NOWHERE)
