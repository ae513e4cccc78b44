"""Whatever an env does to the streams, stdout holds one JSON object, and the process ends."""

import json
import subprocess
import sys

import pytest

# A program that runs `MISCHIEF` as a command would run an env, and then answers.
PROGRAM = """
import os, sys, threading, time
from nbyt.cli import main, output
main._LAST_SECONDS = 0.2
mischief = sys.argv[1]
def command(*words, **options):
    exec(mischief)
    return output.Outcome({"fine": True})
parse = main.parse
main.parse = lambda *asked: (command, parse(*asked)[1])
main.main(["check-env", "--env", "any", "--json"])
"""


@pytest.mark.parametrize(
    "mischief",
    [
        "print('x' * 10**6); os.write(1, b'y' * 10**6); os.system('echo z')",
        "sys.__stdout__.write('buffered'); sys.stdout = sys.stderr = None",
        "sys.stdout.close()",
        "[os.close(number) for number in (0, 1, 2)]",
        "threading.Thread(target=time.sleep, args=(600,)).start()",
    ],
)
def test_stdout_is_one_json_object(mischief: str) -> None:
    done = subprocess.run(
        [sys.executable, "-c", PROGRAM, mischief], capture_output=True, text=True, timeout=120
    )
    assert done.returncode == 0 and "Traceback" not in done.stderr, done.stderr[-2000:]
    assert json.loads(done.stdout)["data"] == {"fine": True}


def test_remarks_do_not_end_a_command_whose_stderr_was_closed() -> None:
    code = (
        "import os, sys; from nbyt.cli.output import talk; console = talk(); "
        "os.close(2); console.print('one'); sys.stderr.close(); console.print('two'); "
        "sys.stderr = None; console.print('three'); print('went on')"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=60)
    assert (done.returncode, done.stdout) == (0, "went on\n")
