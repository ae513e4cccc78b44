"""A script in CleanRL's style: its sizes by floor division, its slices of shuffled indices."""

from collections.abc import Mapping
from typing import Any

import gymnasium
import numpy as np
import torch

from benchmarks.dialects.counted import Counted

_HIDDEN, _CLIP = 8, 0.2


def cleanrl(settings: Mapping[str, Any]) -> Counted:
    """PPO as such a script writes it; mini-batches and gradient steps as its loops make them."""
    counted, envs = Counted(), gymnasium.make_vec("CartPole-v1", num_envs=settings["num_envs"])
    batch = settings["num_envs"] * settings["num_steps"]
    minibatch = batch // settings["num_minibatches"]
    policy, critic = _network(2), _network(1)
    optimiser = torch.optim.Adam([*policy.parameters(), *critic.parameters()], lr=2.5e-4)
    observation = envs.reset(seed=1)[0]
    for _ in range(settings["total_timesteps"] // batch):
        counted.begin_update()
        observation, rollout = _collected(envs, policy, observation, settings["num_steps"])
        indices = np.arange(batch)
        for _ in range(settings["update_epochs"]):
            np.random.shuffle(indices)
            for start in range(0, batch, minibatch):
                chosen = indices[start : start + minibatch]
                counted.see(len(chosen))
                loss = _loss(policy, critic, rollout, chosen)
                optimiser.zero_grad()
                loss.backward()
                optimiser.step()
                counted.step()
    return counted


def _network(outputs: int) -> torch.nn.Module:
    return torch.nn.Sequential(
        torch.nn.Linear(4, _HIDDEN), torch.nn.Tanh(), torch.nn.Linear(_HIDDEN, outputs)
    )


def _collected(
    envs: Any, policy: torch.nn.Module, observation: np.ndarray, steps: int
) -> tuple[np.ndarray, dict[str, torch.Tensor]]:
    """T steps of every env, flat: observations, actions, log-probabilities and rewards."""
    rows: dict[str, list[torch.Tensor]] = {name: [] for name in ("seen", "did", "logp", "reward")}
    for _ in range(steps):
        seen = torch.as_tensor(observation)
        with torch.no_grad():
            chances = torch.distributions.Categorical(logits=policy(seen))
        action = chances.sample()
        observation, reward, *_ = envs.step(action.numpy())
        values = (seen, action, chances.log_prob(action), torch.as_tensor(reward).float())
        for name, value in zip(rows, values, strict=True):
            rows[name].append(value)
    return observation, {name: torch.cat(parts) for name, parts in rows.items()}


def _loss(
    policy: torch.nn.Module, critic: torch.nn.Module, rollout: Any, chosen: np.ndarray
) -> torch.Tensor:
    seen, reward = rollout["seen"][chosen], rollout["reward"][chosen]
    chances = torch.distributions.Categorical(logits=policy(seen))
    value = critic(seen).flatten()
    gain = reward - value.detach()
    ratio = (chances.log_prob(rollout["did"][chosen]) - rollout["logp"][chosen]).exp()
    clipped = ratio.clamp(1 - _CLIP, 1 + _CLIP)
    return -torch.min(ratio * gain, clipped * gain).mean() + (value - reward).pow(2).mean()
