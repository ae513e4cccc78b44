"""The forecast: what it counts, what it refuses, and how limits cut a race."""

import gymnasium
import pytest

from nbyt.advice.estimate import (
    Pace,
    forecast,
    in_words,
    planned_race,
    race_samples,
    require_time,
    startable,
    step_pace,
    with_budget,
)
from nbyt.advice.request import effort, make_advice_request
from nbyt.envs import resolve
from nbyt.errors import UsageError


def _race(word="normal", **options):
    env = resolve("gym:CartPole-v1")
    return planned_race(make_advice_request(env, effort=effort(word), **options))


def test_more_effort_costs_more_and_slow_steps_cost_in_proportion() -> None:
    seconds = [
        forecast(_race(word), Pace(1e-4), timed=True).seconds
        for word in ("quick", "normal", "thorough")
    ]
    assert seconds == sorted(seconds) and seconds[2] > 2 * seconds[0]
    free = forecast(_race(), Pace(0.0), timed=True)
    once, twice = (forecast(_race(), Pace(pace), timed=True).seconds for pace in (0.001, 0.002))
    assert twice - free.seconds == pytest.approx(2 * (once - free.seconds))


def test_four_trainings_cost_four_trainings() -> None:
    """For the same samples; how much is trained again to be measured is counted too."""
    race = _race(objective="samples", trainings=4, stages=None)
    assert race_samples(race, race.schedule.seeds) == pytest.approx(4 * 204_800, rel=0.03)


def test_no_race_costs_next_to_nothing() -> None:
    found = forecast(_race(trainings=0), Pace(0.001), timed=False)
    assert found.race == found.pools == found.timing == 0 and found.seconds < 10


def test_a_limit_of_samples_cuts_seeds() -> None:
    race = _race()
    one = race_samples(race, 1)
    assert with_budget(race, 2 * one, None).schedule.seeds == 2
    assert with_budget(race, one - 1, None).schedule.seeds == 0
    assert with_budget(race, 10**12, None).schedule.seeds == race.schedule.seeds


def test_too_long_a_time_is_refused_with_an_offer() -> None:
    assert require_time(_race(), Pace(0.0), 600, timed=True).seconds < 600
    with pytest.raises(UsageError, match="this would take about") as refused:
        require_time(_race(), Pace(0.01), 600, timed=True)
    assert "--trainings" in refused.value.fix and "--time-limit" in refused.value.fix


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
