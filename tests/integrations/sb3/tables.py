"""A tabular env as Stable-Baselines3 takes it, and a linear policy that is exactly a table."""

from typing import Any

import gymnasium
import numpy as np
import torch
from gymnasium import spaces
from stable_baselines3 import PPO
from stable_baselines3.common.env_util import make_vec_env

from nbyt.exact import Control


class TableEnv(gymnasium.Env):
    """The env of a control, stepped by NumPy."""

    def __init__(self, control: Control) -> None:
        self._env = control.env
        states, actions, _ = self._env.outcomes.state.shape
        self.observation_space, self.action_space = (
            spaces.Discrete(states),
            spaces.Discrete(actions),
        )

    def reset(self, *, seed: int | None = None, options: Any = None) -> tuple[int, dict]:
        super().reset(seed=seed)
        self._state = self._drawn(self._env.start)
        return self._state, {}

    def step(self, action: int) -> tuple[int, float, bool, bool, dict]:
        before, made = self._state, self._env.outcomes
        place = before, action, self._drawn(made.probability[before, action])
        self._state = int(made.state[place])
        return self._state, float(made.reward[place]), bool(made.terminated[place]), False, {}

    def _drawn(self, chances: np.ndarray) -> int:
        return int(np.searchsorted(np.cumsum(chances), self.np_random.random() * chances.sum()))


def table_model(control: Control, *, envs: int, steps: int, seed: int = 0) -> PPO:
    """PPO with the control's tables as its weights; it learns nothing, as its rate is 0."""
    model = PPO(
        "MlpPolicy",
        make_vec_env(lambda: TableEnv(control), envs, seed=seed),
        n_steps=steps,
        batch_size=envs * steps,
        n_epochs=1,
        gamma=control.gamma,
        gae_lambda=control.lam,
        learning_rate=0.0,
        normalize_advantage=False,
        policy_kwargs={"net_arch": []},
        seed=seed,
        device="cpu",
    )
    tables = {"action_net": control.stage.params.actor["logits"].T}
    tables["value_net"] = control.stage.params.critic["values"][None]
    with torch.no_grad():
        for name, table in tables.items():
            layer = getattr(model.policy, name)
            layer.weight.copy_(torch.tensor(np.array(table)))
            layer.bias.zero_()
            layer.bias.requires_grad_(False)
    return model
