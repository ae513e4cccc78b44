"""Commands as a user gives them: in a process of their own."""

import subprocess
import sys
from pathlib import Path

NBYT = [sys.executable, "-m", "nbyt.cli.main"]


def nbyt(*arguments: str, cwd: Path | None = None, code: int = 0) -> subprocess.CompletedProcess:
    """Run a command to its end; its exit code is part of the promise."""
    done = subprocess.run([*NBYT, *arguments], cwd=cwd, capture_output=True, text=True, timeout=240)
    assert done.returncode == code, done.stderr
    assert "Traceback" not in done.stderr
    return done
