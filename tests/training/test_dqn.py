"""Plans of DQN: sizes and settings that cannot be are refused, and exploration follows them."""

import pytest

from nbyt.envs import resolve
from nbyt.errors import LayoutError, UsageError
from nbyt.training.algorithms.dqn import DQNAlgorithm
from nbyt.training.dqn import DQNPlan, DQNSettings, ReplayLayout
from nbyt.training.plan import stage_updates

LAYOUT = ReplayLayout(envs=2, steps=4, minibatch=16, buffer=400, warm_up=100)


SETTINGS = DQNSettings(network="8", anneal=True, double=True, target_every=60)


def plan(env: str = "gymnax:CartPole-v1", updates: int = 400, **changes: object) -> DQNPlan:
    settings = changes.pop("settings", SETTINGS)
    layout = changes.pop("layout", LAYOUT)
    stages = stage_updates(updates)
    return DQNPlan(env, layout, updates * layout.fresh, 3, settings, stages, **changes)


@pytest.mark.parametrize(
    ("sizes", "words"),
    [
        ({"buffer": 16, "minibatch": 32}, "smaller than a mini-batch"),
        ({"buffer": 1002}, "nearest that do: 1000, 1004"),
        ({"buffer": -4}, "buffer must be a whole number"),
        ({"minibatch": 0}, "minibatch must be a whole number"),
        ({"minibatch": 64, "warm_up": 10}, "does not hold a mini-batch"),
        ({"envs": 1.5}, "envs must be a whole number"),
    ],
)
def test_sizes_that_cannot_be_are_refused(sizes: dict, words: str) -> None:
    with pytest.raises(LayoutError, match=words):
        ReplayLayout(**sizes)


def test_a_buffer_that_no_checkpoint_holds_is_refused() -> None:
    huge = ReplayLayout(buffer=100_000_000)
    with pytest.raises(LayoutError, match="more than the 2 GB of a checkpoint"):
        DQNAlgorithm(plan(layout=huge), resolve("gymnax:CartPole-v1"))


@pytest.mark.parametrize(
    "wrong", [{"gamma": 1.5}, {"epsilon_end": -0.1}, {"huber": 0.0}, {"target_every": 0}]
)
def test_settings_that_cannot_be_are_refused(wrong: dict) -> None:
    with pytest.raises(UsageError):
        DQNSettings(**wrong)


def test_exploration_comes_down_in_a_line() -> None:
    wanted = plan(settings=DQNSettings(exploration=0.5, epsilon_end=0.2))
    assert wanted.epsilon(0) == wanted.epsilon(99) == 1.0
    assert wanted.epsilon(800) == pytest.approx(0.6)
    assert wanted.epsilon(1600) == wanted.epsilon(3200) == pytest.approx(0.2)
