"""Spaces are served from zero on, or refused with the wrapper that serves them."""

import corridor
import gymnasium
import numpy as np
import pytest
from gymnasium.spaces import Box, Dict, Discrete, MultiBinary, MultiDiscrete, Tuple
from starting import start

from nbyt.envs import gymnasium_suite, spaces
from nbyt.errors import EnvUsageError


@pytest.mark.parametrize("vector", ["sync", "async"])
def test_spaces_that_start_elsewhere_are_counted_from_zero(vector: str) -> None:
    running = start(corridor.shifted, 2, vector=vector)
    env = gymnasium_suite.GymnasiumEnv("x:y", corridor.shifted)
    assert (env.observation_space, env.action_space) == (Discrete(5), Discrete(2))
    assert running.reset([0, 1]).tolist() == [1, 1]
    assert running.step(np.array([0, 1])).observation.tolist() == [0, 2]
    running.close()


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
