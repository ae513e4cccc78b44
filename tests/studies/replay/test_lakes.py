"""Lakes of many maps: ways found by search, and policies followed step by step."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from nbyt.policy.networks import parse_network
from nbyt.policy.q_policy import build_q
from nbyt_studies.replay import envs


@pytest.fixture(scope="module")
def maps() -> envs.Maps:
    return envs.drawn(30)


def distances(holes: np.ndarray, goal: int) -> dict[int, int]:
    """Steps to the goal from every cell that has a way, by breadth-first search."""
    found, edge = {goal: 0}, [goal]
    while edge:
        cell = edge.pop(0)
        row, column = divmod(cell, envs.SIDE)
        for down, right in ((0, 1), (1, 0), (0, -1), (-1, 0)):
            there = (row + down, column + right)
            number = there[0] * envs.SIDE + there[1]
            inside = min(there) >= 0 and max(there) < envs.SIDE
            if inside and not holes[number] and number not in found:
                found[number] = found[cell] + 1
                edge.append(number)
    return found


def walked(env: envs.Lakes, actions: np.ndarray) -> np.ndarray:
    """From every start of every map: the first episode's return, by the env's own steps."""
    pairs = np.argwhere(env.maps.starts)
    keys = jax.random.split(jax.random.key(0), len(pairs))
    step = jax.jit(jax.vmap(env.step))
    state = envs.LakeState(*(jnp.int32(x) for x in (*pairs.T, np.zeros(len(pairs)))))
    total, ended = np.zeros(len(pairs)), np.zeros(len(pairs), bool)
    while not ended.all():
        made = step(keys, state, actions[np.asarray(state.map), np.asarray(state.cell)])
        total += np.where(ended, 0.0, made.reward)
        ended |= np.asarray(made.terminated | made.truncated)
        state = made.state
    return total


def test_starts_are_the_cells_that_have_a_way(maps) -> None:
    for holes, goal, starts in zip(*maps, strict=True):
        assert set(np.flatnonzero(starts)) == set(distances(holes, goal)) - {goal}
        assert holes.sum() == envs.HOLES
        assert not holes[goal]


def test_no_map_comes_twice_and_a_longer_list_begins_alike(maps) -> None:
    longer = envs.drawn(60)
    kinds = {holes.tobytes() + bytes([goal]) for holes, goal, _ in zip(*longer, strict=True)}
    assert len(kinds) == 60
    for short, long in zip(maps, envs.part(longer, 0, 30), strict=True):
        np.testing.assert_array_equal(short, long)


def test_the_shortest_ways_all_succeed(maps) -> None:
    actions = np.zeros((30, envs.CELLS), int)
    for number, (holes, goal, _) in enumerate(zip(*maps, strict=True)):
        far = distances(holes, goal)
        for cell in far:
            steps = [far.get(int(after), 99) for after in envs.NEXT[cell]]
            actions[number, cell] = int(np.argmin(steps))
    assert envs.followed(maps, actions) == 1.0


def test_following_is_what_the_env_does_step_by_step(maps) -> None:
    few = envs.part(maps, 0, 4)
    env = envs.Lakes("a test", few)
    policy = build_q(env.observation_space, env.action_space, parse_network("16", "relu"))
    params = policy.init(jax.random.key(3))
    actions = np.asarray(policy.values(params, jnp.asarray(envs.sights(few)))).argmax(-1)
    outcomes = walked(env, actions)
    assert 0 < np.mean(outcomes) < 1
    assert envs.success(few, policy, params) == pytest.approx(np.mean(outcomes))


def test_an_episode_begins_at_a_start_and_sees_its_map(maps) -> None:
    env = envs.Lakes("a test", maps)
    states, seen = jax.jit(jax.vmap(env.reset))(jax.random.split(jax.random.key(0), 200))
    assert maps.starts[np.asarray(states.map), np.asarray(states.cell)].all()
    holes, goal, place = np.split(np.asarray(seen), 3, axis=1)
    np.testing.assert_array_equal(holes, maps.holes[np.asarray(states.map)])
    np.testing.assert_array_equal(goal.argmax(1), maps.goal[np.asarray(states.map)])
    np.testing.assert_array_equal(place.argmax(1), np.asarray(states.cell))
