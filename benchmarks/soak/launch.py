"""Run nbyt with frequent checkpoints; optionally die at a chosen file operation.

    python -m benchmarks.soak.launch [--die-at 17] train ENV ...

Checkpoints come every 0.3 s instead of every 15 s, so that a short run is killed between several of
them. With --die-at K the process kills itself right before its K-th file operation. A run that
ends says how many there were. `reproduce post` does a study of seconds (`study.py`).
"""

import os
import signal
import sys

from benchmarks.soak.operations import count_operations
from nbyt.cli.main import run
from nbyt.training import loop

SAID = "file operations: "

# At import, because the workers of a study import this module, too.
loop._CHECKPOINT_SECONDS = 0.3
loop._SAVING_SHARE = 1.0


def main() -> None:
    """Run the command and exit with its code."""
    tokens = sys.argv[1:]
    die_at = 0
    if tokens[0] == "--die-at":
        die_at, tokens = int(tokens[1]), tokens[2:]
    if tokens[0] == "reproduce":
        _replace_study()
    made = 0

    def before(number: int) -> None:
        nonlocal made
        made = number
        if number == die_at:
            os.kill(os.getpid(), signal.SIGKILL)

    count_operations(before)
    code = run(tokens)
    sys.stderr.write(f"{SAID}{made}\n")
    sys.exit(code)


def _replace_study() -> None:
    from benchmarks.soak.study import SMALL
    from nbyt.cli import reproduce

    reproduce.find_study = lambda name: SMALL


if __name__ == "__main__":
    main()
