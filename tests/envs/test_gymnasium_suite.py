"""Gymnasium envs: found, started, seeded, and named when they fail."""

import multiprocessing
import signal
import time

import corridor
import gymnasium
import numpy as np
import pytest
from gymnasium.spaces import Box, Dict, Discrete, MultiBinary, MultiDiscrete, Tuple

from nbyt.envs import gymnasium_suite, spaces
from nbyt.envs.protocol import HostEnv
from nbyt.errors import EnvError, EnvUsageError
from nbyt.rng import seeds as role_seeds


def start(factory, envs=3, **how):
    return gymnasium_suite.from_factory("corridor:it", factory).start(envs, **how)


def go_left(running) -> None:
    """Five steps of every env."""
    for _ in range(5):
        running.step(np.zeros(running.envs, int))


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
        gymnasium_suite.from_factory("gym:Hopper-v5", make).start(1)


def test_time_limit_is_the_one_that_acts() -> None:
    limited = gymnasium_suite.from_factory("x:y", corridor.make)
    bare = gymnasium_suite.from_factory("x:y", lambda: gymnasium.make("CartPole-v1").unwrapped)
    assert (limited.time_limit, bare.time_limit) == (7, None)


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


def test_steps_are_fresh_arrays_and_actions_are_left_alone() -> None:
    class Greedy(corridor.Corridor):
        """Keeps one observation array and writes into its action."""

        def __init__(self) -> None:
            super().__init__(box=True)
            self.action_space = Box(-1, 1, (1,), np.float32)
            self.shared = np.zeros(2, np.float32)

        def step(self, action):
            action[0] = 9.0
            return super().step(1)

        def observe(self):
            self.shared[:] = super().observe()
            return self.shared

    running = start(Greedy, 1)
    first = running.reset([0])
    before = first.copy()
    action = np.full((1, 1), 0.5, np.float32)
    steps = [running.step(action) for _ in range(3)]
    np.testing.assert_array_equal(first, before)
    np.testing.assert_array_equal(action, [[0.5]])
    assert [step.observation[0, 1] for step in steps] == [1.0, 2.0, 0.0]
    np.testing.assert_array_equal(steps[2].final_observation, [[1.0, 3.0]])


@pytest.mark.parametrize("vector", ["sync", "async"])
def test_spaces_that_start_elsewhere_are_counted_from_zero(vector: str) -> None:
    running = start(corridor.shifted, 2, vector=vector)
    env = gymnasium_suite.from_factory("x:y", corridor.shifted)
    assert (env.observation_space, env.action_space) == (Discrete(5), Discrete(2))
    assert running.reset([0, 1]).tolist() == [1, 1]
    assert running.step(np.array([0, 1])).observation.tolist() == [0, 2]
    running.close()


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


@pytest.mark.parametrize("broken", ["reset", "close"])
def test_an_env_that_raises_in_reset_or_close_is_named(broken: str) -> None:
    class Broken(corridor.Corridor):
        pass

    def fail(self, **_):
        raise OSError("no such world")

    setattr(Broken, broken, fail)
    env = gymnasium_suite.from_factory("x:y", corridor.make)
    env.observation_space  # noqa: B018 (the facts come from a good env, then the factory turns)
    env._factory = Broken
    running = env.start(2)
    with pytest.raises(EnvError, match=f"OSError: no such world in {broken}"):
        running.reset([0, 1]) if broken == "reset" else running.close()


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


def test_many_slow_envs_are_not_a_hang() -> None:
    class Slow(corridor.Corridor):
        def step(self, action):
            time.sleep(0.2)
            return super().step(action)

    running = start(Slow, 8, step_seconds=1.2)
    running.reset(list(range(8)))
    assert running.step(np.zeros(8, int)).valid.all()


def test_an_alarm_of_the_user_is_left_alone() -> None:
    before = signal.signal(signal.SIGALRM, lambda *_: None)
    try:
        mine = signal.getsignal(signal.SIGALRM)
        running = start(corridor.make, 1)
        running.reset([0])
        running.step(np.zeros(1, int))
        assert signal.getsignal(signal.SIGALRM) is mine
    finally:
        signal.signal(signal.SIGALRM, before)


def test_an_async_env_that_dies_gives_its_signal() -> None:
    running = start(corridor.dying, 2, vector="async")
    running.reset([1, 2])
    with pytest.raises(EnvError, match="SIGKILL"):
        go_left(running)
    running.close()
    assert not multiprocessing.active_children()


@pytest.mark.parametrize("reward", ["much", [1.0, 2.0], np.ones(1)])
def test_rewards_that_are_not_numbers_are_refused(reward) -> None:
    class Odd(corridor.Corridor):
        def step(self, action):
            return self.observe(), reward, False, False, {}

    running = start(Odd, 2)
    running.reset([0, 1])
    with pytest.raises(EnvError, match="returned as reward"):
        running.step(np.array([0, 0]))


def test_observations_of_another_shape_are_refused_not_broadcast() -> None:
    class Odd(corridor.Corridor):
        def step(self, action):
            return np.zeros(1, np.float32), 0.0, False, False, {}

    running = start(lambda: Odd(box=True), 2)
    running.reset([0, 1])
    with pytest.raises(EnvError, match="returned as observation"):
        running.step(np.array([0, 0]))


BOX = Box(-1, 1, (2,), np.float32)
REFUSED = [
    (Dict({"a": BOX}), Discrete(2), "FlattenObservation"),
    (Tuple((BOX, BOX)), Discrete(2), "FlattenObservation"),
    (MultiBinary(3), Discrete(2), "FlattenObservation"),
    (gymnasium.spaces.Text(4), Discrete(2), "TransformObservation"),
    (BOX, MultiBinary(3), "TransformAction"),
    (BOX, Dict({"a": BOX}), "flatten_space"),
    (BOX, Box(0, 4, (2,), np.int64), "TransformAction"),
    (BOX, Box(0, 1, (), np.float32), "TransformAction"),
    (None, Discrete(2), "not a Gymnasium space"),
]


@pytest.mark.parametrize(("observed", "acted", "words"), REFUSED)
def test_other_spaces_are_refused_with_their_wrapper(observed, acted, words) -> None:
    with pytest.raises(EnvUsageError, match=words):
        spaces.require_supported(observed, acted, where="x:y")


@pytest.mark.parametrize(
    ("observed", "acted"),
    [
        (Box(0, 255, (8, 8, 3), np.uint8), Discrete(3)),
        (Discrete(4), MultiDiscrete([2, 3])),
        (BOX, Box(-np.inf, np.inf, (2, 2), np.float64)),
    ],
)
def test_these_spaces_are_served(observed, acted) -> None:
    spaces.require_supported(observed, acted, where="x:y")
    assert spaces.faults(observed, acted) == []
