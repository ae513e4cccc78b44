"""What another process answered, as outcomes of cells."""

from typing import Any

from nbyt.envs.local import died, hung
from nbyt.errors import EnvError, NbytError, TrainingError, error_from
from nbyt.processes.heartbeat import HeartbeatState
from nbyt.processes.worker import basic_setup
from nbyt.sweep.cells import Job, Outcome
from nbyt.sweep.grid import Grid
from nbyt.train import hardware
from nbyt.train.curves import curve_from


def setup_of(path: list[str], step_limit: float) -> dict[str, Any]:
    """What a worker needs to compute as this process does."""
    return {**basic_setup(path, step_limit), "hardware": hardware.prepared()}


def outcomes_of(grid: Grid, job: Job, answer: dict[str, Any]) -> list[Outcome]:
    """The outcome of every cell of a job, from what a worker said or failed to say."""
    if "answers" not in answer:
        return [_failure(grid.env.id, answer)] * len(job)
    return [_error(one) or curve_from(one["curve"]) for one in answer["answers"]]


def failure_of(env: str, answer: dict[str, Any]) -> NbytError | None:
    """The first error of what a worker said, or why it said nothing; None where all went well."""
    if "answers" not in answer:
        return _failure(env, answer)
    return next((error for one in answer["answers"] if (error := _error(one))), None)


def _error(answer: dict[str, Any]) -> NbytError | None:
    return error_from(answer["error"]) if "error" in answer else None


def _failure(env: str, answer: dict[str, Any]) -> NbytError:
    """Why there was no answer."""
    state = HeartbeatState(*answer["state"])
    if "silent" in answer:
        return hung(env, answer["silent"], state.words, state.step, state.where)
    if "ended" in answer:
        where = f"{state.words or 'between two calls'}, {state.where}"
        fix = f"see what it said on stderr, and run `nbyt check-env {env}`"
        return died(env, answer["ended"], where, fix=fix)
    if "cut_off" in answer:
        return EnvError(
            f"env '{env}' closed the files of its process, and with them the way to report",
            where=state.where,
            fix="close only what the env has opened",
        )
    return TrainingError(
        f"the training was not over after {answer['overlong']:g} s",
        where=state.where,
        fix="raise --cell-limit, and retry with --retry-failed",
    )
