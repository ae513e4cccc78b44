"""A worker without envs or JAX: it answers, or does what the task names."""

import os
import time
from typing import Any

from nbyt.processes.heartbeat import STEP, Heartbeat
from nbyt.processes.worker import Say, serve


def main(heartbeat: Heartbeat) -> None:
    def begin(setup: dict[str, Any], say: Say) -> Any:
        def do(task: dict[str, Any]) -> None:
            deed = task["deed"]
            os.write(1, b"words that are no answer\n")
            if deed == "leave":
                os._exit(3)
            if deed == "close":
                os.closerange(3, 64)
            if deed == "hang":
                with heartbeat.calling(STEP, step=4):
                    time.sleep(60)
            if deed == "work":
                time.sleep(60)
            say({"progress": setup["factor"]})
            say({"answers": [setup["factor"] * task.get("number", 0)]})

        return do

    serve(begin)
