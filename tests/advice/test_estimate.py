"""The forecast: what it counts, what it refuses, and what it offers instead."""

import gymnasium
import pytest

from nbyt.advice.estimate import Pace, forecast, in_words, require_time, startable, step_pace
from nbyt.advice.request import effort, make_advice_request
from nbyt.envs import resolve
from nbyt.errors import UsageError

ALL = {"trained": True, "timed": True}


def _question(word="normal"):
    return make_advice_request(resolve("gym:CartPole-v1"), batch=2048, effort=effort(word))


def test_more_effort_costs_more_and_slow_steps_cost_in_proportion() -> None:
    seconds = [
        forecast(_question(word), Pace(1e-4), **ALL).seconds
        for word in ("quick", "normal", "thorough")
    ]
    assert seconds == sorted(seconds) and seconds[2] > 3 * seconds[1]
    free = forecast(_question(), Pace(0.0), **ALL)
    slow = forecast(_question(), Pace(0.001), **ALL)
    steps = free.training + free.pools + free.timing
    assert slow.seconds - free.seconds == pytest.approx(0.001 * steps)


def test_what_is_not_done_is_not_counted() -> None:
    found = forecast(_question(), Pace(0.001), trained=False, timed=False)
    assert found.training == found.timing == 0 and found.pools > 0


def test_too_long_a_time_is_refused_with_an_offer() -> None:
    assert require_time(_question(), Pace(0.0), 600, **ALL).seconds < 600
    with pytest.raises(UsageError, match="this would take about") as refused:
        require_time(_question(), Pace(0.01), 600, **ALL)
    assert "--effort quick (about" in refused.value.fix and "--time-limit" in refused.value.fix
    with pytest.raises(UsageError) as refused:
        require_time(_question("quick"), Pace(0.1), 600, **ALL)
    assert "--total" in refused.value.fix


@pytest.mark.parametrize(("seconds", "words"), [(40, "40s"), (700, "12m"), (9000, "3h")])
def test_times_are_said_as_the_command_line_reads_them(seconds: float, words: str) -> None:
    assert in_words(seconds) == words


def test_a_device_env_needs_no_trial_and_a_host_env_is_timed() -> None:
    assert step_pace(resolve("gymnax:CartPole-v1")) == Pace(0.0)
    assert 1e-7 < step_pace(resolve("gym:CartPole-v1")).step < 0.01


def test_no_more_envs_than_can_be_started() -> None:
    class Scarce(gymnasium.Env):
        observation_space = gymnasium.spaces.Discrete(2)
        action_space = gymnasium.spaces.Discrete(2)
        licences = 12

        def __init__(self):
            if Scarce.licences == 0:
                raise RuntimeError("no licence left")
            Scarce.licences -= 1

        def reset(self, *, seed=None, options=None):
            super().reset(seed=seed)
            return 0, {}

        def close(self):
            Scarce.licences += 1

    assert startable(resolve("gymnax:CartPole-v1"), 4096) == 4096
    assert startable(resolve("gym:CartPole-v1"), 64) == 64
    Scarce.licences = 12
    assert startable(resolve(Scarce), 64) in (4, 8)
