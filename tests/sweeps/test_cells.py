"""Seeds that are trained together: what befalls one of them is no matter of the others."""

from dataclasses import replace
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from tests.sweeps.small import DEVICE, HOST, ROOT, grid_of, outcomes

from nbyt.collect.evaluate import play_seeds
from nbyt.envs import resolve
from nbyt.errors import EnvError
from nbyt.sweeps.cells import InProcessRunner
from nbyt.sweeps.grid import make_grid
from nbyt.training import curves, hardware
from nbyt.training.plan import PPOSettings


class Raising:
    """FrozenLake that shows the host the random key of every step; some it refuses."""

    def __init__(self) -> None:
        self.seen: set[bytes] = set()
        self.refused: set[bytes] = set()
        self._env: Any = resolve(DEVICE)
        self.id, self.time_limit = "tests:raising", self._env.time_limit
        self.observation_space = self._env.observation_space
        self.action_space = self._env.action_space

    def reset(self, key: jax.Array) -> tuple[Any, Any]:
        return self._env.reset(key)

    def step(self, key: jax.Array, state: Any, action: Any) -> Any:
        made = self._env.step(key, state, action)
        shape = jax.ShapeDtypeStruct((), jnp.float32)
        given = (jax.random.key_data(key), made.reward)
        asked = jax.pure_callback(self._ask, shape, *given, vmap_method="sequential")
        return made._replace(reward=asked)

    def _ask(self, key: Any, reward: Any) -> np.ndarray:
        own = np.asarray(key).tobytes()
        self.seen.add(own)
        if own in self.refused:
            raise ZeroDivisionError("the user's own words")
        return np.float32(reward)


def test_a_cell_is_trained_for_its_part_and_evaluated_with_so_many_episodes(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    asked: list[int] = []

    def watched(*given: Any, episodes: int) -> Any:
        asked.append(episodes)
        return play_seeds(*given, episodes=episodes)

    monkeypatch.setattr(curves, "play_seeds", watched)
    grid = replace(grid_of(DEVICE, 2), points=(1, 2, 4), lengths=((4, 1), (4, 3)), episodes=5)
    found = outcomes(InProcessRunner(), grid)
    assert {cell.envs: found[cell].samples for cell in grid.cells} == {4: (32,), 8: (32, 64, 96)}
    assert asked == [5, 5]


def test_without_episodes_a_host_cell_has_the_curve_of_its_own(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.chdir(ROOT)  # where the env can be imported
    grid = replace(grid_of(HOST, 1, layouts=1), episodes=0)
    for curve in outcomes(InProcessRunner(), grid).values():
        known = [value for value in curve.training if value is not None]
        assert known and set(curve.returns) <= set(known)


def test_a_seed_that_raises_takes_no_other_with_it(monkeypatch: pytest.MonkeyPatch) -> None:
    """The keys of the first seed are refused: it fails, and the other is as ever."""
    monkeypatch.setattr(hardware, "forget_programs", lambda: None)  # compiled once
    env = Raising()
    sizes = {"batch": 32, "layouts": [(4, 8)], "total": 32, "minibatch": 16, "epochs": 1}
    settings = PPOSettings(network="table", learning_rate=0.3)
    alone = outcomes(InProcessRunner(), make_grid(env, seeds=1, settings=settings, **sizes))
    seen = frozenset(env.seen)
    grid = make_grid(env, seeds=2, settings=settings, **sizes)
    whole = outcomes(InProcessRunner(), grid)
    assert alone.items() <= whole.items() and len(env.seen) > len(seen)
    env.refused |= seen
    first, *others = outcomes(InProcessRunner(), grid).items()
    assert isinstance(first[1], EnvError) and "the user's own words" in first[1].message
    assert dict(others).items() <= whole.items() and len(others) == 1
