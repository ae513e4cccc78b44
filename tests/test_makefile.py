"""`make help` lists every target, and workflows and hooks call targets that there are."""

import os
import re
import subprocess
from pathlib import Path

import pytest
import yaml

ROOT = Path(__file__).parents[1]
MAKEFILE = (ROOT / "Makefile").read_text("utf-8")
TARGETS = set(re.findall(r"^([a-z][a-z-]*):", MAKEFILE, re.MULTILINE))
WORKFLOWS = sorted((ROOT / ".github" / "workflows").glob("*.yml"))
CALLERS = [*WORKFLOWS, ROOT / ".pre-commit-config.yaml", ROOT / ".ci" / "run"]
PINNED = re.compile(r"uses: [\w./-]+@[0-9a-f]{40} # v\d+\.\d+\.\d+$")


def test_help_lists_every_target_with_a_line() -> None:
    # The tests are run by make; this one does not belong to it.
    env = {
        name: value for name, value in os.environ.items() if not name.startswith(("MAKE", "MFLAGS"))
    }
    told = subprocess.run(
        ["make", "--no-print-directory", "help"],
        cwd=ROOT,
        env=env,
        capture_output=True,
        text=True,
        check=True,
    )
    lines = dict(line.split(maxsplit=1) for line in told.stdout.splitlines())
    assert set(lines) == TARGETS
    assert all(line.endswith(".") and len(line) < 78 for line in lines.values())


@pytest.mark.parametrize("path", CALLERS, ids=lambda path: path.name)
def test_every_target_that_is_called_exists(path: Path) -> None:
    text = path.read_text("utf-8")
    called = set(re.findall(r"\bmake ([a-z][a-z-]*)", text))
    if path.name == "benchmarks.yml":
        inputs = yaml.safe_load(text)[True]["workflow_dispatch"]["inputs"]
        called = set(inputs["target"]["options"])
    assert called <= TARGETS
    assert called or ".ci/run" in text


@pytest.mark.parametrize("path", WORKFLOWS, ids=lambda path: path.name)
def test_every_action_is_pinned_by_a_commit_with_its_version(path: Path) -> None:
    uses = [line for line in path.read_text("utf-8").splitlines() if "uses:" in line]
    assert uses
    assert [line for line in uses if not PINNED.search(line)] == []


@pytest.mark.parametrize("path", WORKFLOWS, ids=lambda path: path.name)
def test_no_job_may_do_more_than_it_says(path: Path) -> None:
    flow = yaml.safe_load(path.read_text("utf-8"))
    assert flow["permissions"] == {}
    for job in flow["jobs"].values():
        assert set(job["permissions"]) and "timeout-minutes" in job
        assert job["permissions"].get("contents") != "write"


def test_the_hooks_are_the_quick_part_of_the_test_command() -> None:
    hooks = yaml.safe_load((ROOT / ".pre-commit-config.yaml").read_text())["repos"][0]["hooks"]
    quick = re.search(r"^test:.*\n\t\$\(MAKE\) -j 4 (.*)$", MAKEFILE, re.MULTILINE)
    assert quick is not None
    assert {hook["entry"].split()[1] for hook in hooks} < set(quick[1].split())
