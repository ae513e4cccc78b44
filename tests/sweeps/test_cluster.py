"""A real cluster of two nodes: the same numbers as here, whatever befalls its workers."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest
from tests.sweeps.small import ROOT

from nbyt.cli import main

pytest.importorskip("ray", reason="needs the extra `ray`")


def test_two_nodes_train_the_same_numbers_though_a_worker_is_killed_and_a_node_lost(
    tmp_path: Path,
) -> None:
    """Also: an env that hangs is given up; chains are the same bytes; no process is left."""
    # Ray's workers give way to all others, which on a busy machine means that they wait for ever.
    surroundings = {**os.environ, "RAY_worker_niceness": "0"}
    done = subprocess.run(
        [sys.executable, "-m", "tests.sweeps.on_ray", str(tmp_path / "traps")],
        cwd=ROOT,
        env=surroundings,
        capture_output=True,
        text=True,
        timeout=400,
    )
    assert done.returncode == 0, done.stderr
    found = json.loads(done.stdout)  # and nothing else: Ray keeps off it
    told = found.pop("told")
    assert "no answer for 1 s at step 3 (in step) (env 0, step 3, training seed 0)" in told
    assert found == {
        "cpus": 2,
        "chains": True,
        "killed": True,
        "host": True,
        "device": True,
        "gone": True,
    }


def test_a_cluster_that_is_not_there_is_told_without_its_address(
    capsys: pytest.CaptureFixture[str],
) -> None:
    words = ["sweep", "FrozenLake-v1", "--batch", "64", "--ray", "127.0.0.1:1"]
    assert main.run([*words, "--json"]) == 2
    said = capsys.readouterr()
    assert json.loads(said.out)["error"]["where"] == "ray"
    assert "no Ray cluster answers there" in said.err and "127.0.0.1" not in said.out + said.err
