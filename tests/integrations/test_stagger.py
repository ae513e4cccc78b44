"""Staggered starts cut first episodes apart and nothing else, and the detector sees both."""

import gymnasium
import numpy as np
import pytest
from gymnasium.spaces import Box, Discrete
from gymnasium.vector import AutoresetMode, SyncVectorEnv

pytest.importorskip("stable_baselines3")
pytest.importorskip("torch")

from examples.point_masses import LIMIT, PointMasses
from stable_baselines3.common.vec_env import DummyVecEnv

from nbyt.envs.vectors.kinds import adapted
from nbyt.errors import EnvUsageError
from nbyt.integrations import stagger

LENGTH, ENVS = 40, 32


class Fixed(gymnasium.Env):
    """Episodes of LENGTH steps that show their step."""

    observation_space = Box(0, LENGTH, (1,), np.float32)
    action_space = Discrete(2)

    def reset(self, *, seed=None, options=None):
        super().reset(seed=seed)
        self.steps = 0
        return np.zeros(1, np.float32), {}

    def step(self, action):
        self.steps += 1
        return np.array([self.steps], np.float32), 0.0, False, self.steps == LENGTH, {}


def of_gymnasium(apart: bool):
    def make(k):
        return lambda: stagger.Stagger(Fixed(), LENGTH, k) if apart else Fixed()

    same = AutoresetMode.SAME_STEP
    return SyncVectorEnv([make(k) for k in range(ENVS)], autoreset_mode=same)


def of_sb3(apart: bool):
    envs = DummyVecEnv([Fixed] * ENVS)
    return stagger.stagger_vec_env(envs, LENGTH) if apart else envs


class Isaac(PointMasses):
    """Masses that nobody pushes off the table, so that all episodes have the same length."""

    def step(self, actions):
        return super().step(0 * actions)


def ends_of(env, steps: int, begin=lambda env: None) -> list[np.ndarray]:
    """For every env, after how many steps each of its episodes ended."""
    vector = adapted(env)
    vector.reset(list(range(vector.envs)))
    begin(env)
    idle = np.zeros((vector.envs, *vector.action_space.shape), vector.action_space.dtype)
    made = [vector.step(idle) for _ in range(steps)]
    ends = np.array([one.terminated | one.truncated for one in made])
    assert not any(one.terminated.any() for one in made)
    return [np.flatnonzero(column) + 1 for column in ends.T]


@pytest.mark.parametrize("make", [of_gymnasium, of_sb3])
def test_first_episodes_end_anywhere_and_the_others_have_their_length(make) -> None:
    check(ends_of(make(True), 3 * LENGTH), LENGTH)
    assert {one[0] for one in ends_of(make(False), LENGTH)} == {LENGTH}


def test_first_episodes_of_an_isaac_style_env_too() -> None:
    check(ends_of(Isaac(ENVS), 2 * LIMIT, stagger.stagger_batched), LIMIT)


def check(ends: list[np.ndarray], length: int) -> None:
    first = [one[0] for one in ends]
    assert min(first) >= 1 and max(first) <= length and len(set(first)) > ENVS / 3
    assert np.std(first) == pytest.approx(length / np.sqrt(12), rel=0.35)
    assert all(set(np.diff(one)) <= {length} for one in ends)


@pytest.mark.parametrize("make", [of_gymnasium, of_sb3])
def test_the_detector_tells_them_apart(make) -> None:
    together = stagger.synchronised(make(False), steps=3 * LENGTH)
    apart = stagger.synchronised(make(True), steps=3 * LENGTH)
    assert together.low == together.value == 1.0
    assert apart.high < 0.5


def test_the_detector_on_an_isaac_style_env() -> None:
    assert stagger.synchronised(Isaac(8), steps=2 * LIMIT).value == 1.0


def test_same_starts_counts_pairs_of_equal_age() -> None:
    """Two groups in step with themselves: pairs within a group of 3 and of 2, of 10 pairs."""
    ends = np.zeros((60, 5), bool)
    ends[9::10, :3] = True
    ends[4::10, 3:] = True
    found = stagger.same_starts(ends)
    assert found.value == pytest.approx((3 + 1) / 10)
    assert stagger.same_starts(np.zeros((60, 5), bool)).value is None


def test_what_cannot_be_staggered_or_looked_at_says_why() -> None:
    with pytest.raises(EnvUsageError, match="episode_length_buf"):
        stagger.stagger_batched(of_gymnasium(False))
    with pytest.raises(EnvUsageError, match="Fixed is not a vector env"):
        stagger.synchronised(Fixed())
