"""Carts under other conditions: their physics from first principles, and what counts as visited."""

import jax
import numpy as np
import pytest

from nbyt.errors import EnvUsageError
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
