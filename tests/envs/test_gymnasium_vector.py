"""Envs in processes of their own do as those in a loop, and are named when they fail."""

import multiprocessing
import time

import corridor
import numpy as np
import pytest
from starting import go_left, start

from nbyt.envs import gymnasium_suite
from nbyt.errors import EnvError
from nbyt.rng import seeds as role_seeds


@pytest.mark.parametrize("vector", ["sync", "async"])
def test_fewer_envs_are_a_prefix_of_more(vector: str) -> None:
    env = gymnasium_suite.find("CartPole-v1")
    actions = np.random.default_rng(0).integers(0, 2, (60, 4))
    runs = []
    for count in (2, 4):
        running = env.start(count, vector=vector if count == 2 else "sync")
        rows = [running.reset(role_seeds(7, "env", count))[:2]]
        rows += [running.step(row[:count]).observation[:2] for row in actions]
        runs.append(np.array(rows))
        running.close()
    np.testing.assert_array_equal(runs[0], runs[1])


@pytest.mark.parametrize("vector", ["sync", "async"])
def test_an_env_that_raises_is_named(vector: str) -> None:
    running = start(corridor.raising, 2, vector=vector)
    running.reset([11, 12])
    with pytest.raises(EnvError) as caught:
        go_left(running)
    assert "ZeroDivisionError: the user's own words" in caught.value.message
    assert caught.value.where in ("env 0, step 3, seed 11", "env 1, step 3, seed 12")
    assert isinstance(caught.value.__cause__, ZeroDivisionError)
    running.close()
    assert not multiprocessing.active_children()


@pytest.mark.parametrize("vector", ["sync", "async"])
def test_an_env_that_hangs_is_ended(vector: str) -> None:
    running = start(corridor.sleeping, 2, vector=vector, step_seconds=2.0)
    running.reset([1, 2])
    began = time.monotonic()
    with pytest.raises(EnvError, match=r"no answer for 2 s at step 3") as caught:
        go_left(running)
    assert caught.value.where == "env 0, step 3, seed 1"
    assert time.monotonic() - began < 60  # it sleeps for 1,000 s
    running.close()
    assert not multiprocessing.active_children()


def test_an_async_env_that_dies_gives_its_signal() -> None:
    running = start(corridor.dying, 2, vector="async")
    running.reset([1, 2])
    with pytest.raises(EnvError, match="SIGKILL"):
        go_left(running)
    running.close()
    assert not multiprocessing.active_children()
