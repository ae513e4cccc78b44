"""A watched env does as the env that it watches, and its heartbeat says what it is doing."""

import corridor
import numpy as np
import pytest

from nbyt.envs import gymnasium_suite
from nbyt.envs.watched_env import CheckedEnv, StoppedError, WatchedEnv
from nbyt.processes.heartbeat import Heartbeat


@pytest.fixture
def heartbeat():
    heartbeat = Heartbeat.new()
    yield heartbeat
    heartbeat.remove()


class Telling(corridor.Corridor):
    """A corridor that reads the heartbeat in every call."""

    heartbeat: Heartbeat
    said: list

    def reset(self, **options):
        self.said.append(self.heartbeat.read())
        return super().reset(**options)

    def step(self, action):
        self.said.append(self.heartbeat.read())
        return super().step(action)

    def close(self):
        self.said.append(self.heartbeat.read())


def telling(heartbeat: Heartbeat) -> type[Telling]:
    return type("Mine", (Telling,), {"heartbeat": heartbeat, "said": []})


def test_every_call_is_in_the_heartbeat_while_it_lasts(heartbeat) -> None:
    made = telling(heartbeat)
    plain = gymnasium_suite.GymnasiumEnv("corridor:it", made)
    env = WatchedEnv(plain, heartbeat, seconds=10)
    assert (env.id, env.time_limit) == (plain.id, plain.time_limit)
    heartbeat.begin(17)
    running = env.start(2)
    made.said.clear()
    running.reset([3, 4])
    for _ in range(2):
        running.step(np.ones(2, int))
    running.close()
    assert [state.words for state in made.said] == [
        *["in reset"] * 2,
        *["in step"] * 4,
        *["in close"] * 2,
    ]
    assert [state.place for state in made.said[:6]] == [0, 1] * 3
    assert [state.step for state in made.said] == [0, 0, 0, 0, 1, 1, 2, 2]
    assert made.said[3].where == "env 1, step 0, training seed 17"
    assert heartbeat.read().words == ""


def test_what_is_watched_is_answered_as_without(heartbeat) -> None:
    plain = gymnasium_suite.GymnasiumEnv("corridor:it", corridor.make_box)
    answers = []
    for env in (plain, WatchedEnv(plain, heartbeat, seconds=10)):
        running = env.start(2)
        first = running.reset([3, 4])
        answers.append([first, *(running.step(np.ones(2, int)) for _ in range(5))])
        running.close()
    for row, watched in zip(*answers, strict=True):
        for one, other in zip(row, watched, strict=True):
            np.testing.assert_array_equal(one, other)


def _hang():
    while True:
        pass


def _interrupt():
    raise KeyboardInterrupt("mine")


@pytest.mark.parametrize(("deed", "raised"), [(_hang, ""), (_interrupt, "KeyboardInterrupt: mine")])
def test_what_would_end_the_check_says_where_it_was(heartbeat, deed, raised: str) -> None:
    class Ending(corridor.Corridor):
        def step(self, action):
            return super().step(action) if self.steps < 1 else deed()

    env = CheckedEnv(gymnasium_suite.GymnasiumEnv("x:y", Ending), heartbeat, seconds=0.3)
    one = env.start_one()
    one.reset(seed=0)
    one.step(1)
    with pytest.raises(StoppedError) as stopped:
        one.step(1)
    assert stopped.value.raised == raised
    assert (stopped.value.state.words, stopped.value.state.step) == ("in step", 1)
