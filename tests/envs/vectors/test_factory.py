"""Laws of finding vector envs: what is asked for, what is a choice, what is refused."""

import corridor
import corridor_vectors
import numpy as np
import pytest

from nbyt.envs import resolve
from nbyt.envs.gymnasium_suite import GymnasiumEnv
from nbyt.envs.user_code import env_from
from nbyt.envs.vectors.factory import VectorFactory, takes_num_envs
from nbyt.errors import EnvUsageError


def test_the_parameter_num_envs_tells_a_vector_env_from_a_single_one() -> None:
    assert takes_num_envs(corridor_vectors.same_step)
    assert not takes_num_envs(corridor.make)
    assert isinstance(resolve("corridor_vectors:same_step"), VectorFactory)
    assert isinstance(resolve("corridor:make"), GymnasiumEnv)


@pytest.mark.parametrize("envs", [1, 2, 7])
def test_the_factory_is_asked_for_as_many_as_are_wanted(envs: int) -> None:
    asked = []

    def factory(num_envs):
        asked.append(num_envs)
        return corridor_vectors.same_step(num_envs)

    env = env_from(factory)
    assert asked == []  # finding is cheap
    running = env.start(envs)
    assert asked[-1] == running.envs == envs
    assert env.fixed_envs is None and env.notes == []


@pytest.mark.parametrize(
    "thing",
    [
        corridor_vectors.fixed,
        corridor_vectors.same_step(5),
        lambda num_envs: corridor_vectors.same_step(5),
    ],
    ids=["without num_envs", "a running env", "num_envs ignored"],
)
def test_a_fixed_n_is_kept_told_and_the_most_that_can_be_had(thing) -> None:
    env = env_from(thing)
    assert env.fixed_envs == env.most_envs == 5
    assert "N is fixed at 5" in env.notes[0]
    assert env.start(5).envs == 5 and env.start(2).envs == 2
    with pytest.raises(EnvUsageError, match=r"6 envs of .* cannot be started: it has 5") as told:
        env.start(6)
    assert "5 envs or fewer" in told.value.fix


def test_an_env_with_a_fixed_n_is_built_once() -> None:
    built = []

    def factory():
        built.append(1)
        return corridor_vectors.same_step(5)

    env = env_from(factory)
    for _ in range(3):
        running = env.start(4)
        running.reset([0, 1, 2, 3])
        running.close()
    assert len(built) == 1


def test_a_single_env_from_a_function_that_takes_num_envs_is_refused() -> None:
    with pytest.raises(EnvUsageError, match="takes num_envs and returned TimeLimit") as told:
        env_from(lambda num_envs: corridor.make()).start(3)
    assert "takes no num_envs" in told.value.fix


def test_a_function_that_raises_is_told_with_its_own_words() -> None:
    def factory(num_envs):
        raise ZeroDivisionError("the user's own words")

    with pytest.raises(EnvUsageError, match="ZeroDivisionError: the user's own words"):
        _ = env_from(factory).action_space


def test_spaces_and_limit_are_those_of_one_env() -> None:
    env, one = env_from(corridor_vectors.same_step), corridor.make_box()
    assert env.observation_space == one.observation_space
    assert env.action_space == one.action_space
    assert env_from(corridor_vectors.isaac).time_limit == corridor.LIMIT
    assert env.start_one() is None and env.copyable is False
    assert np.shape(env.start(3).reset([0, 1, 2])) == (3, 2)
