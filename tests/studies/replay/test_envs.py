"""CartPole under other conditions, and lakes of many maps."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from nbyt.errors import EnvUsageError
from nbyt.policy.networks import parse_network
from nbyt.policy.q_policy import build_q
from nbyt_studies.replay import envs

# gravity, cart's mass, pole's mass, half its length, force
PHYSICS = {
    envs.HOME: (9.8, 1.0, 0.1, 0.5, 10.0),
    envs.STARTS: (9.8, 1.0, 0.1, 0.5, 10.0),
    "pole 2 x as long": (9.8, 1.0, 0.1, 1.0, 10.0),
    "pole 1/4 as long": (9.8, 1.0, 0.1, 0.125, 10.0),
    "gravity 3 x as strong": (29.4, 1.0, 0.1, 0.5, 10.0),
    "force 1/4 as strong": (9.8, 1.0, 0.1, 0.5, 2.5),
}


def moved(state: np.ndarray, action: int, condition: str) -> np.ndarray:
    """The state 0.02 s later, from the equations of a pole on a cart."""
    gravity, cart, pole, half, force = PHYSICS[condition]
    _, speed, angle, turning = state
    push = force if action else -force
    whole = cart + pole
    pushed = (push + pole * half * turning**2 * np.sin(angle)) / whole
    inertia = half * (4 / 3 - pole * np.cos(angle) ** 2 / whole)
    turn = (gravity * np.sin(angle) - np.cos(angle) * pushed) / inertia
    gain = pushed - pole * half * turn * np.cos(angle) / whole
    return state + 0.02 * np.array([speed, gain, turning, turn])


def test_every_condition_moves_by_its_own_physics() -> None:
    assert set(PHYSICS) == set(envs.CONDITIONS)
    env = envs.Carts()
    begun, states = jax.jit(jax.vmap(env.reset))(jax.random.split(jax.random.key(0), 64))
    actions = np.arange(64) % 2
    after = jax.jit(jax.vmap(env.step))(jax.random.split(jax.random.key(1), 64), begun, actions)
    seen = {envs.CONDITIONS[number] for number in np.asarray(begun.condition)}
    assert seen == set(envs.CONDITIONS)
    for place, number in enumerate(np.asarray(begun.condition)):
        expected = moved(np.asarray(states[place]), actions[place], envs.CONDITIONS[number])
        np.testing.assert_allclose(after.observation[place], expected, atol=1e-5)


def test_only_wide_starts_are_wide() -> None:
    begun = envs.begun(2)
    wide = begun.condition == envs.CONDITIONS.index(envs.STARTS)
    assert np.all(np.abs(begun.state[~wide]) <= 0.05)
    assert np.all(np.abs(begun.state[wide]) <= envs.WIDE)
    assert np.all(np.abs(begun.state[wide]).max(axis=0) > 0.5 * np.array(envs.WIDE))


def test_visited_is_what_a_look_at_every_pair_says() -> None:
    generator = np.random.default_rng(0)
    states, met = (generator.uniform(-1, 1, (200, 4)) * envs.WIDE for _ in range(2))
    met[:20] = states[:20]
    near = (np.abs(states[:, None] - met[None]) <= envs.NEAR).all(-1).any(1)
    found = envs.visited(states, met)
    assert found[:20].all()
    assert not found.all()
    np.testing.assert_array_equal(found, near)


def test_a_parameter_that_does_not_exist_is_refused() -> None:
    with pytest.raises(EnvUsageError, match="lenght"):
        envs.home().changed(lenght=1.0)


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
    actions = np.asarray(policy.values(params, jnp.asarray(envs.observations(few)))).argmax(-1)
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
