"""Law: whatever resets an env, its valid transitions are the same.

The oracle is a bare loop over one env, written here: step, and reset when it ended.
"""

import corridor
import gymnasium
import numpy as np
import pytest
from transitions import Seen, assert_same_transitions, valid_transitions

from nbyt.envs import gymnasium_suite

WAYS = [("sync", "same"), ("sync", "next"), ("async", "same"), ("async", "next")]
SEEDS = [3, 4, 5]


def oracle(env: gymnasium.Env, seed: int, actions: np.ndarray) -> list[Seen]:
    """The transitions of one env along `actions`."""
    observation, _ = env.reset(seed=seed)
    rows = []
    for action in actions:
        after, reward, terminated, truncated, _ = env.step(action)
        rows.append(Seen(observation, action, float(reward), terminated, truncated, after))
        observation = env.reset()[0] if terminated or truncated else after
    return rows


def corridor_actions() -> list[np.ndarray]:
    """One env walks straight to the end, one runs into the time limit, one does anything."""
    straight = np.ones(40, int)
    idle = np.zeros(40, int)
    anything = np.random.default_rng(0).integers(0, 2, 40)
    return [straight, idle, anything]


@pytest.mark.parametrize("make", [corridor.make, corridor.make_box])
@pytest.mark.parametrize(("vector", "autoreset"), WAYS)
def test_corridor_is_the_same_through_every_reset(make, vector, autoreset) -> None:
    expected = [oracle(make(), 0, actions) for actions in corridor_actions()]
    env = gymnasium_suite.from_factory("corridor:make", make)
    running = env.start(3, vector=vector, autoreset=autoreset)
    try:
        seen = valid_transitions(running, SEEDS, corridor_actions())
    finally:
        running.close()
    assert_same_transitions(seen, expected)


def test_the_oracle_meets_both_ends() -> None:
    rows = [oracle(corridor.make(), 0, actions) for actions in corridor_actions()]
    assert sum(row.terminated for row in rows[0]) == 40 // 3
    assert sum(row.truncated for row in rows[1]) == 40 // 7
    assert not any(row.terminated and row.truncated for row in rows[0] + rows[1])


def test_next_step_has_filler_rows_and_same_step_has_none() -> None:
    env = gymnasium_suite.from_factory("corridor:make", corridor.make)
    counts = {}
    for autoreset in ("same", "next"):
        running = env.start(1, autoreset=autoreset)
        running.reset([0])
        steps = [running.step(np.ones(1, int)) for _ in range(8)]
        counts[autoreset] = [bool(step.valid[0]) for step in steps]
        running.close()
    assert counts["same"] == [True] * 8
    assert counts["next"] == [True, True, True, False] * 2


def cliff_actions() -> list[np.ndarray]:
    """Up, along the edge, down to the goal; and one env that falls off the cliff now and then."""
    path = [0, *[1] * 11, 2]
    return [np.array(path * 3), np.random.default_rng(1).integers(0, 4, 39)]


def test_cliff_walking_is_the_same_through_gymnasium_and_envpool() -> None:
    pytest.importorskip("envpool")
    from nbyt.envs import envpool_suite

    rows = []
    for found in (gymnasium_suite.find("CliffWalking-v1"), envpool_suite.find("CliffWalking-v1")):
        running = found.start(2)
        rows.append(valid_transitions(running, SEEDS[:2], cliff_actions()))
        running.close()
    assert sum(row.terminated for row in rows[0][0]) == 3
    assert_same_transitions(rows[0], rows[1])


def test_a_time_limit_is_the_same_through_gymnasium_and_envpool() -> None:
    """Pushing one way for ever only ever meets the limit, which both suites set to 200."""
    pytest.importorskip("envpool")
    from nbyt.envs import envpool_suite

    ends = []
    for found in (gymnasium_suite.find("MountainCar-v0"), envpool_suite.find("MountainCar-v0")):
        assert found.time_limit == 200
        running = found.start(1)
        seen = valid_transitions(running, [0], [np.zeros(450, int)])[0]
        running.close()
        ends.append([i for i, row in enumerate(seen) if row.truncated])
        assert not any(row.terminated for row in seen)
    assert ends[0] == ends[1] == [199, 399]
