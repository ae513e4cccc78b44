"""Every tutorial does what it says: its commands and its Python run in order, in one folder."""

import os
import re
import subprocess
import sys
from pathlib import Path
from typing import NamedTuple

import pytest

DOCS = Path(__file__).parents[2] / "docs"
TUTORIALS = sorted((DOCS / "tutorials").glob("*.md"))
_FENCE = re.compile(r"^```(\w+)(?: title=\"([\w.]+)\")?\n(.*?)^```$", re.MULTILINE | re.DOTALL)


class Step(NamedTuple):
    """One block of a page."""

    language: str
    file: str
    text: str


def steps(page: Path) -> list[Step]:
    """The blocks of a page in order."""
    return [Step(*found) for found in _FENCE.findall(page.read_text("utf-8"))]


def lines(step: Step) -> list[str]:
    """What is run for a block."""
    if step.language == "sh":
        return [step.text]
    if step.language == "text":
        return [line[2:] for line in step.text.splitlines() if line.startswith("$ ")]
    return []


@pytest.mark.parametrize("page", TUTORIALS, ids=lambda page: page.stem)
def test_a_tutorial_runs(page: Path, tmp_path: Path) -> None:
    for name in ("stable_baselines3",):
        if name in page.read_text():
            pytest.importorskip(name)
    path = os.pathsep.join([str(Path(sys.executable).parent), os.environ["PATH"]])
    env = {**os.environ, "PATH": path, "COLUMNS": "80", "NO_COLOR": "1"}
    done = 0
    for number, step in enumerate(steps(page)):
        if step.language == "python":
            (tmp_path / (step.file or f"block_{number}.py")).write_text(step.text)
        calls = [["bash", "-euc", text] for text in lines(step)]
        if step.language == "python" and not step.file:
            calls = [[sys.executable, f"block_{number}.py"]]
        for call in calls:
            run = subprocess.run(
                call, cwd=tmp_path, env=env, capture_output=True, text=True, timeout=600
            )
            assert run.returncode == 0, f"{step.text}\n{run.stdout}\n{run.stderr}"
            done += 1
    assert done or page.stem == "reading-the-page"
