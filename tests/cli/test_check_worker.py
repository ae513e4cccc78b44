"""The worker of check-env names whatever an env raises, and outlives it."""

import json
import sys

from nbyt.processes.reaper import ProcessReaper
from nbyt.processes.worker import WorkerProcess, basic_setup

ENVS = "tests.faults.hostile_envs"


# And of envs that leave their process alive.
ALIVE = {
    "step_unspeakable": "UnspeakableError: (no words: its __str__ raised ValueError)",
    "reset_base": "reset 0 raised Base: words",
    "close_generator_exit": "close() raised GeneratorExit",
    "build_sys_exit": "raised SystemExit: 5",
    "step_interrupt": "KeyboardInterrupt",
    "reward_big": "reward",
    "observation_space_huge": "1,000,000,000,000 numbers",
    "step_print": "",
    "step_fork": "",
}


def test_check_env_names_whatever_an_env_raises() -> None:
    """One process for all of them, which none of them ends."""
    with ProcessReaper() as reaper:
        worker = WorkerProcess(reaper, "nbyt.cli.check_worker", basic_setup(sys.path, 60))
        try:
            for env, words in ALIVE.items():
                task = {"env": f"{ENVS}:{env}", "seed": 0, "steps": 20}
                (answer,) = worker.finish(task)["answers"]
                if not words:
                    assert answer["report"]["faults"] == []
                assert words in json.dumps(answer), (env, answer)
        finally:
            worker.end()
