"""Laws of running rows: some of all, turns, and faults that name the env."""

import corridor_vectors
import numpy as np
import pytest
from gymnasium.vector import AutoresetMode

from nbyt.envs.user_code import env_from
from nbyt.errors import EnvError, EnvUsageError


def played(running, steps: int, envs: int) -> list:
    """What the first rows show along random actions."""
    actions = np.random.default_rng(0).integers(0, 2, (steps, 5))[:, :envs]
    made = [running.step(row) for row in actions]
    return [[one[:2] if one is not None else None for one in step] for step in made]


def test_fewer_envs_are_the_first_of_all() -> None:
    some, every = (env_from(corridor_vectors.same_step(5)).start(n) for n in (2, 5))
    assert np.array_equal(some.reset([0, 1]), every.reset(list(range(5)))[:2])
    for few, many in zip(played(some, 60, 2), played(every, 60, 5), strict=True):
        for name, one, other in zip("orteVf", few, many, strict=True):
            if name != "f":
                np.testing.assert_array_equal(one, other)
            elif one is not None:  # meaningful where an episode of these ended
                ended = few[2] | few[3]
                np.testing.assert_array_equal(one[ended], other[ended])


def test_who_comes_back_begins_anew_after_a_row_that_is_no_experience() -> None:
    env = env_from(corridor_vectors.fixed)
    first, second = env.start(2), env.start(3)
    start = first.reset([0, 1])
    first.step(np.zeros(2, int))
    second.reset([0, 1, 2])
    second.step(np.ones(3, int))
    back = first.step(np.ones(2, int))
    assert not back.valid.any() and not (back.terminated | back.truncated).any()
    np.testing.assert_array_equal(back.observation, start)
    assert first.step(np.ones(2, int)).valid.all()


def test_an_env_whose_answer_has_another_shape_is_named() -> None:
    env = corridor_vectors.same_step(3)
    running = env_from(env).start(3)
    running.reset([0, 1, 2])
    env.buffer = np.zeros((3, 3), np.float32)
    env.look = lambda: env.buffer
    with pytest.raises(EnvError, match=r"observation .* not numbers of shape \(2,\)"):
        running.step(np.zeros(3, int))


def test_an_env_that_raises_is_named_with_its_step() -> None:
    class Raising(corridor_vectors.Batched):
        def step(self, actions):
            if self.cells.steps[0] == 3:
                raise ZeroDivisionError("the user's own words")
            return super().step(actions)

    running = env_from(Raising(4)).start(4)
    running.reset([0, 1, 2, 3])
    for _ in range(3):
        running.step(np.zeros(4, int))
    with pytest.raises(EnvError, match="ZeroDivisionError: the user's own words") as told:
        running.step(np.zeros(4, int))
    assert told.value.where == "all 4 envs, step 3"


def test_starts_that_cannot_be_staggered_are_refused_with_what_to_do() -> None:
    running = env_from(corridor_vectors.same_step).start(2)
    running.reset([0, 1])
    assert not running.restarts
    with pytest.raises(EnvUsageError, match="cannot be staggered") as told:
        running.spread(np.array([0, 3]))
    assert "reset_mask" in told.value.fix


def test_a_restart_of_some_rows_leaves_the_others() -> None:
    running = env_from(corridor_vectors.Corridors(4, AutoresetMode.DISABLED)).start(3)
    running.reset([0, 1, 2])
    rows = running.step(np.zeros(3, int)).observation
    fresh = running.restart(np.array([False, True, False]), rows)
    np.testing.assert_allclose(fresh, [[0, 1], [0.25, 0], [0, 1]])
