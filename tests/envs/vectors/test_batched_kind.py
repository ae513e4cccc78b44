"""Laws of Isaac-style envs that the law of all adapters (test_protocol) does not meet."""

from types import SimpleNamespace

import corridor
import corridor_vectors
import numpy as np
import pytest
from gymnasium.spaces import Box

torch = pytest.importorskip("torch")

from examples.point_masses import PointMasses, make_vec  # noqa: E402

from nbyt.envs.vectors.batched_kind import BatchedVector  # noqa: E402
from nbyt.errors import EnvUsageError  # noqa: E402


def test_starts_are_spread_where_the_env_counts_its_steps() -> None:
    vector = BatchedVector(make_vec(4))
    vector.reset([0, 1, 2, 3])
    assert vector.spread(np.array([0, 50, 199, 120]))
    ends = [vector.step(np.zeros((4, 2), np.float32)).truncated for _ in range(200)]
    first = [int(np.flatnonzero(column)[0]) + 1 for column in np.array(ends).T]
    assert first == [200, 150, 1, 80]
    assert not BatchedVector(corridor_vectors.isaac(4)).spread(np.arange(4))


def test_a_seed_gives_the_same_start_with_and_without_a_parameter_for_it() -> None:
    class Seedless(PointMasses):
        def reset(self):  # type: ignore[override]
            self.place = torch.rand(self.num_envs, 2)
            return self._seen(), {}

    for env in (PointMasses(3), Seedless(3)):
        vector = BatchedVector(env)
        first, other, again = (vector.reset([seed]) for seed in (1, 2, 1))
        np.testing.assert_array_equal(first, again)
        assert not np.array_equal(first, other)


def test_spaces_of_all_envs_together_are_read_as_those_of_one() -> None:
    env = PointMasses(3)
    one = BatchedVector(env)
    batched = SimpleNamespace(
        num_envs=3,
        reset=env.reset,
        step=env.step,
        observation_space=Box(-np.inf, np.inf, (3, 4), np.float32),
        action_space=Box(-1, 1, (3, 2), np.float32),
    )
    many = BatchedVector(batched)
    assert many.observation_space == one.observation_space
    assert many.action_space == one.action_space


def test_an_env_without_spaces_needs_the_number_of_its_actions() -> None:
    env = PointMasses(3)
    bare = SimpleNamespace(num_envs=3, reset=env.reset, step=env.step)
    with pytest.raises(EnvUsageError, match="what its actions are"):
        BatchedVector(bare)
    bare.num_actions = 2
    vector = BatchedVector(bare)
    assert vector.action_space.shape == (2,) and vector.observation_space.shape == (4,)


def test_time_outs_are_those_of_episodes_that_ended() -> None:
    """Some envs leave the flag of an earlier time-out standing."""
    env = corridor_vectors.Batched(3)
    flags = np.array([1, 0, 1]), {"time_outs": np.array([True, True, False])}
    env.step = lambda actions: (np.zeros((3, 2)), np.zeros(3), *flags)
    step = BatchedVector(env).step(np.zeros(3, int))
    assert step.truncated.tolist() == [True, False, False]
    assert step.terminated.tolist() == [False, False, True]


def test_the_limit_is_that_of_the_env() -> None:
    assert BatchedVector(corridor_vectors.isaac(1)).limit == corridor.LIMIT
