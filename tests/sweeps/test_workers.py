"""Trainings in processes of their own: the same numbers, and limits that hold."""

import os
from collections.abc import Iterator
from pathlib import Path

import pytest
from tests.sweeps.small import DEVICE, HOST, ROOT, children, grid_of, outcomes, set_traps
from tests.sweeps.traps import FOLDER

from nbyt.errors import EnvError, TrainingError
from nbyt.sweeps.cells import InProcessRunner
from nbyt.sweeps.workers import Workers

# What each trap makes of a cell: the end of the message, and where.
TOLD = {
    "build-sleep": ("no answer for 1 s at step 0 (while it was built)", "env 0, step 0, training"),
    "reset-exit": ("ended with exit code 3", "in reset, env 0, step 0, training seed "),
    "step-deadlock": ("no answer for 1 s at step 3 (in step)", "env 0, step 3, training seed "),
    "step-kill": ("ended by signal 9 (SIGKILL)", "in step, env 0, step 3, training seed "),
    "step-raise": ("ZeroDivisionError: the user's own words in step", "env 0, step 3, seed "),
    "step-sleep": ("no answer for 1 s at step 3 (in step)", "env 0, step 3, seed "),
}


@pytest.fixture(autouse=True)
def surroundings(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """The env can be imported; no process is left behind, and no trap."""
    monkeypatch.chdir(ROOT)
    before = children()
    yield
    os.environ.pop(FOLDER, None)
    assert children() == before


@pytest.mark.own_process
@pytest.mark.parametrize("env", [HOST, DEVICE])
def test_processes_give_the_same_numbers(env: str) -> None:
    """A host env's seeds one after the other in one process; a device env's together."""
    grid = grid_of(env, seeds=2, layouts=1)
    here = outcomes(InProcessRunner(), grid)
    assert len({curve.returns for curve in here.values()}) == 2
    assert outcomes(Workers(1, cell_limit=600), grid) == here


def test_whatever_an_env_does_it_is_told_and_its_process_is_gone(tmp_path: Path) -> None:
    """As many cells as traps, and every cell meets one."""
    set_traps(tmp_path, *TOLD)
    errors = list(outcomes(Workers(2, step_limit=1), grid_of(HOST, len(TOLD), layouts=1)).values())
    assert {path.name for path in tmp_path.iterdir()} == {f"sprung-{trap}" for trap in TOLD}
    for trap, (words, where) in TOLD.items():
        told = [e for e in errors if e.message.endswith(words) and e.where.startswith(where)]
        assert len(told) == 1 and isinstance(told[0], EnvError), (trap, errors)
        # Python can say where in the user's code it was, C code and a corpse cannot.
        own = trap in ("step-raise", "step-sleep")
        assert told[0].message.startswith("in your code:\n") == own


def test_limits_are_for_one_env_and_for_a_whole_training(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    grid = grid_of(HOST, 1, layouts=1)
    # Four envs that take 0.9 s each: none is slow, though they take 3.6 s in turn.
    monkeypatch.setenv("NBYT_TEST_NAPS", "4")
    set_traps(tmp_path, "step-raise")
    (error,) = outcomes(Workers(1, step_limit=1), grid).values()
    assert "the user's own words" in error.message
    set_traps(tmp_path, "step-sleep")
    (error,) = outcomes(Workers(1, cell_limit=1), grid).values()
    assert isinstance(error, TrainingError) and "not over after 1 s" in error.message
