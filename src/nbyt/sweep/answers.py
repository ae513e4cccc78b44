"""What another process answered, as outcomes of cells."""

import os
from typing import Any

from nbyt import errors
from nbyt.envs.local import died, hung
from nbyt.errors import EnvError, NbytError, TrainingError
from nbyt.sweep.board import Sight
from nbyt.sweep.cells import Job, Outcome
from nbyt.sweep.grid import Grid
from nbyt.sweep.lane import decisive
from nbyt.train import hardware
from nbyt.train.curves import curve_from


def setup_of(path: list[str], step_limit: float) -> dict[str, Any]:
    """What a lane needs to compute as this process does."""
    return {
        "path": path,
        "environment": {name: os.environ[name] for name in os.environ if decisive(name)},
        "step_limit": step_limit,
        "hardware": hardware.prepared(),
    }


def outcomes_of(grid: Grid, job: Job, answer: dict[str, Any]) -> list[Outcome]:
    """The outcome of every cell of a job, from what a lane said or failed to say."""
    if "answers" in answer:
        return [_outcome(one) for one in answer["answers"]]
    sight = Sight(*answer["sight"])
    return [_failure(grid.env.id, answer, sight)] * len(job)


def _outcome(answer: dict[str, Any]) -> Outcome:
    if "curve" in answer:
        return curve_from(answer["curve"])
    said = answer["error"]
    kind = getattr(errors, said["kind"], EnvError)
    return kind(said["message"], where=said["where"], fix=said["fix"])


def _failure(env: str, answer: dict[str, Any], sight: Sight) -> NbytError:
    """Why there was no answer."""
    if "silent" in answer:
        return hung(env, answer["silent"], sight.words, sight.step, sight.where)
    if "ended" in answer:
        fix = f"see what it said on stderr, and run `nbyt check-env {env}`"
        return died(
            env, answer["ended"], f"{sight.words or 'between two calls'}, {sight.where}", fix=fix
        )
    return TrainingError(
        f"the training was not over after {answer['overlong']:g} s",
        where=sight.where,
        fix="raise --cell-limit, and retry with --retry-failed",
    )
