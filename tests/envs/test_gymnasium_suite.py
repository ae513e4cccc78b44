"""Gymnasium envs are found, built and named when they cannot be."""

import corridor
import gymnasium
import pytest
from gymnasium.spaces import Discrete
from starting import start

from nbyt.envs import gymnasium_suite
from nbyt.envs.protocol import HostEnv
from nbyt.errors import EnvError, EnvUsageError


def test_a_registered_env_is_a_host_env() -> None:
    env = gymnasium_suite.find("CartPole-v1")
    assert isinstance(env, HostEnv)
    assert (env.id, env.time_limit, env.copyable) == ("gym:CartPole-v1", 500, True)
    assert env.action_space == Discrete(2)
    assert env.start_one().spec.id == "CartPole-v1"


@pytest.mark.parametrize("name", ["Nope-v0", "CartPole", "CartPole-v99", "not an id", ""])
def test_unknown_ids_are_none(name: str) -> None:
    assert gymnasium_suite.find(name) is None


@pytest.mark.parametrize(
    ("name", "words"),
    [
        ("ALE/Pong-v5", "GPL"),
        ("Hopper-v0", "Hopper-v5"),
        ("Hopper-v3", "v5"),
        ("no_such_module:Env-v0", "no_such_module"),
    ],
)
@pytest.mark.filterwarnings("ignore::DeprecationWarning")
def test_ids_that_cannot_be_built_say_what_to_do(name: str, words: str) -> None:
    with pytest.raises(EnvUsageError, match=words):
        gymnasium_suite.find(name).start(1)


def test_missing_mujoco_names_the_extra() -> None:
    error = gymnasium.error.DependencyNotInstalled("MuJoCo is not installed, run ...")

    def make():
        raise error

    with pytest.raises(EnvUsageError, match=r"nbyt\[mujoco\]"):
        gymnasium_suite.GymnasiumEnv("gym:Hopper-v5", make).start(1)


def test_time_limit_is_the_one_that_acts() -> None:
    limited = gymnasium_suite.GymnasiumEnv("x:y", corridor.make)
    bare = gymnasium_suite.GymnasiumEnv("x:y", lambda: gymnasium.make("CartPole-v1").unwrapped)
    assert (limited.time_limit, bare.time_limit) == (7, None)


def test_an_env_that_raises_while_built_is_named() -> None:
    built = []

    def make():
        built.append(1)
        if len(built) == 4:  # the first is built for its spaces
            raise MemoryError("too many")
        return corridor.make()

    with pytest.raises(EnvError, match=r"MemoryError: too many while it was built \(env 2"):
        start(make, 3)
    built[:] = [1, 1, 1]
    with pytest.raises(EnvUsageError, match="cannot be built: MemoryError"):
        start(make, 3)


def test_a_factory_that_returns_one_env_twice_is_refused() -> None:
    shared = corridor.make()
    with pytest.raises(EnvUsageError, match="same env object twice"):
        start(lambda: shared, 2)
