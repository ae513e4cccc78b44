"""Seeds that are trained together: what befalls one of them is no matter of the others."""

from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from tests.sweep.small import DEVICE, outcomes

from nbyt.envs import resolve
from nbyt.errors import EnvError
from nbyt.sweep.cells import Here
from nbyt.sweep.grid import make_grid
from nbyt.train import hardware
from nbyt.train.settings import PPOSettings


class Raising:
    """FrozenLake that asks the host at every step, and is refused as often as it was told."""

    def __init__(self) -> None:
        self.refusals = 0
        self._env: Any = resolve(DEVICE)
        self.id, self.time_limit = "tests:raising", self._env.time_limit
        self.observation_space = self._env.observation_space
        self.action_space = self._env.action_space

    def reset(self, key: jax.Array) -> tuple[Any, Any]:
        return self._env.reset(key)

    def step(self, key: jax.Array, state: Any, action: Any) -> Any:
        made = self._env.step(key, state, action)
        shape = jax.ShapeDtypeStruct((), jnp.float32)
        asked = jax.pure_callback(self._ask, shape, made.reward, vmap_method="sequential")
        return made._replace(reward=asked)

    def _ask(self, reward: Any) -> np.ndarray:
        if self.refusals:
            self.refusals -= 1
            raise ZeroDivisionError("the user's own words")
        return np.float32(reward)


def test_a_seed_that_raises_takes_no_other_with_it(monkeypatch: pytest.MonkeyPatch) -> None:
    """Refused once together, and once alone: the first seed fails, the other is as ever."""
    monkeypatch.setattr(hardware, "forget_programs", lambda: None)  # compiled once
    env = Raising()
    sizes = {"batch": 32, "layouts": [(4, 8)], "total": 32, "minibatch": 16, "epochs": 1}
    settings = PPOSettings(network="table", learning_rate=0.3)
    grid = make_grid(env, seeds=2, settings=settings, **sizes)
    whole = outcomes(Here(), grid)
    env.refusals = 2
    first, *others = outcomes(Here(), grid).items()
    assert env.refusals == 0
    assert isinstance(first[1], EnvError) and "the user's own words" in first[1].message
    assert dict(others).items() <= whole.items() and len(others) == 1
