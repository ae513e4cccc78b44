"""The first change that CONTRIBUTING describes can be made as it is described."""

import re
import shutil
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).parents[1]
TEXT = (ROOT / "CONTRIBUTING.md").read_text("utf-8")
FIRST = TEXT[TEXT.index("## Your first change") : TEXT.index("## Set up")]


def holds(source: Path, test: str) -> bool:
    """Run a test, given as text, against a copy of the sources."""
    name = re.findall(r"def (\w+)", test)[0]
    code = f"import sys\nsys.path.insert(0, {str(source)!r})\n"
    code += f"from nbyt.dialects import explain\n{test}\n{name}()"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    assert done.returncode == 0 or "AssertionError" in done.stderr, done.stderr
    return done.returncode == 0


def test_the_first_change_makes_its_test_pass(tmp_path: Path) -> None:
    (test,) = re.findall(r"```python\n(.*?)```", FIRST, re.DOTALL)
    found = re.search(
        r"in `(\w+)` of `(\w+\.py)`, begin the message with the line `(f\".*?\")`", FIRST
    )
    assert found is not None
    function, file, beginning = found.groups()
    source = tmp_path / "src"
    shutil.copytree(ROOT / "src" / "nbyt", source / "nbyt")
    path = source / "nbyt" / "dialects" / file
    before, name, body = path.read_text("utf-8").partition(f"def {function}(")
    assert name and not holds(source, test)
    message = "    message = (\n"
    changed = body.replace(message, f"{message}        {beginning}\n", 1)
    path.write_text(before + name + changed, "utf-8")
    assert holds(source, test)


def test_the_commands_and_files_that_it_names_are_there() -> None:
    for file in re.findall(r"`?((?:src|tests|docs|\.devcontainer)/[\w./-]+\w)", FIRST):
        assert (ROOT / file).exists(), file
    for tool in re.findall(r"\.venv/bin/([\w-]+)", FIRST):
        assert tool in ("nbyt", "pytest", "pre-commit")
