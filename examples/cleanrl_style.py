"""PPO in a single file, in torch, with a probe of its gradients in the loop.

    python examples/cleanrl_style.py --total 50000 --out runs/single-file

Four lines add the probe and end in `# probe`: the import, the probe, a measurement of each batch
before it is learned from, and what to change, at the end. All the rest is a training like any
other. The probe draws no random numbers and changes nothing, so the training learns the same
without it (--every 0).
"""

import argparse
from collections import deque
from typing import NamedTuple

import gymnasium
import numpy as np
import torch
from gymnasium.vector import AutoresetMode
from torch import Tensor, nn
from torch.distributions import Categorical

from nbyt.integrations.torch import GradientProbe  # probe

GAMMA, LAMBDA, CLIP, LONGEST_GRADIENT = 0.99, 0.95, 0.2, 0.5
LOSS = {"value_coefficient": 0.5, "entropy_coefficient": 0.01}


class Agent(nn.Module):
    """A policy and its critic, each with a network of its own."""

    def __init__(self, observations: int, actions: int) -> None:
        super().__init__()
        self.actor = network(observations, actions, last=0.01)
        self.critic = network(observations, 1, last=1.0)

    def law(self, obs: Tensor) -> Categorical:
        """The distribution of actions."""
        return Categorical(logits=self.actor(obs))

    def log_prob(self, obs: Tensor, actions: Tensor) -> Tensor:
        """How likely the actions are, as a logarithm."""
        return self.law(obs).log_prob(actions)

    def entropy(self, obs: Tensor) -> Tensor:
        """How undecided the policy is."""
        return self.law(obs).entropy()

    def value(self, obs: Tensor) -> Tensor:
        """The return that the critic expects."""
        return self.critic(obs).squeeze(-1)


def network(inputs: int, outputs: int, *, last: float, width: int = 64) -> nn.Sequential:
    """Two hidden layers and one whose first outputs have the size `last`."""
    layers: list[nn.Module] = []
    for wide, narrow, size in ((inputs, width, 1.4), (width, width, 1.4), (width, outputs, last)):
        layers += [nn.Linear(wide, narrow), nn.Tanh()]
        nn.init.orthogonal_(layers[-2].weight, size)
        nn.init.zeros_(layers[-2].bias)
    return nn.Sequential(*layers[:-1])


class Batch(NamedTuple):
    """What T steps of N envs gave, [T, N, ...]; next_values: of the observation after each step."""

    obs: Tensor
    actions: Tensor
    rewards: Tensor
    terminated: Tensor
    truncated: Tensor
    values: Tensor
    next_values: Tensor
    log_probs: Tensor


class Collector:
    """Envs that go on from batch to batch; `returns` are those of the latest episodes."""

    def __init__(self, name: str, envs: int, seed: int) -> None:
        same_step = {"autoreset_mode": AutoresetMode.SAME_STEP}
        self.envs = gymnasium.make_vec(name, envs, "sync", vector_kwargs=same_step)
        self.returns: deque[float] = deque(maxlen=50)
        self._obs, self._return = torch.tensor(self.envs.reset(seed=seed)[0]), np.zeros(envs)

    @torch.no_grad()
    def collect(self, agent: Agent, steps: int) -> Batch:
        """The next steps of all envs."""
        rows = [self._step(agent) for _ in range(steps)]
        return Batch(*(torch.stack(column) for column in zip(*rows, strict=True)))

    def _step(self, agent: Agent) -> tuple[Tensor, ...]:
        obs, law = self._obs, agent.law(self._obs)
        actions = law.sample()
        seen, reward, terminated, truncated, info = self.envs.step(actions.numpy())
        self._obs = torch.tensor(seen)
        next_values = agent.value(self._obs)
        self._return += reward
        for env in np.flatnonzero(terminated | truncated):
            # The env was reset, so its observation does not belong to the episode that ended.
            last = torch.tensor(info["final_obs"][env])
            next_values[env] = 0.0 if terminated[env] else agent.value(last)
            self.returns.append(float(self._return[env]))
            self._return[env] = 0.0
        given = [torch.tensor(x) for x in (np.float32(reward), terminated, truncated)]
        return obs, actions, *given, agent.value(obs), next_values, law.log_prob(actions)


def advantages_of(batch: Batch) -> Tensor:
    """Generalised advantages; nothing is carried across the end of an episode."""
    surprise = batch.rewards + GAMMA * batch.next_values - batch.values
    goes_on = ~(batch.terminated | batch.truncated)
    found, later = torch.empty_like(surprise), torch.zeros_like(surprise[0])
    for time in reversed(range(len(surprise))):
        found[time] = later = surprise[time] + GAMMA * LAMBDA * goes_on[time] * later
    return found


def loss_of(agent: Agent, obs: Tensor, actions: Tensor, old: Tensor, gain: Tensor, goal: Tensor):
    """PPO's loss of one mini-batch."""
    ratio = (agent.log_prob(obs, actions) - old).exp()
    gain = (gain - gain.mean()) / (gain.std() + 1e-8)
    kept = torch.minimum(ratio * gain, ratio.clamp(1 - CLIP, 1 + CLIP) * gain)
    error = (agent.value(obs) - goal).square() / 2
    bonus = LOSS["entropy_coefficient"] * agent.entropy(obs)
    return (LOSS["value_coefficient"] * error - kept - bonus).mean()


def learn(agent: Agent, optimiser: torch.optim.Optimizer, batch: Batch, gain: Tensor, args) -> None:
    """Update the agent: every sample once in each epoch."""
    columns = (batch.obs, batch.actions, batch.log_probs, gain, gain + batch.values)
    samples = [column.flatten(0, 1) for column in columns]
    for _ in range(args.epochs):
        for picked in torch.randperm(gain.numel()).split(args.minibatch):
            optimiser.zero_grad()
            loss_of(agent, *(column[picked] for column in samples)).backward()
            nn.utils.clip_grad_norm_(agent.parameters(), LONGEST_GRADIENT)
            optimiser.step()


def train(args: argparse.Namespace) -> tuple[Agent, list[float]]:
    """The agent, and before each of its updates the mean return of the latest episodes."""
    torch.manual_seed(args.seed)
    collector, means = Collector(args.env, args.envs, args.seed), []
    shape = collector.envs.single_observation_space.shape
    agent = Agent(shape[0], collector.envs.single_action_space.n)
    optimiser = torch.optim.Adam(agent.parameters(), args.learning_rate, eps=1e-5)
    own = {"log_prob": agent.log_prob, "value": agent.value, "entropy": agent.entropy}
    probe = GradientProbe(**own, **LOSS, gamma=GAMMA, lam=LAMBDA, out=args.out)  # probe
    for update in range(1, args.total // (args.envs * args.steps) + 1):
        batch = collector.collect(agent, args.steps)
        gain = advantages_of(batch)
        means.append(float(np.mean(collector.returns)) if collector.returns else 0.0)
        if args.every and update % args.every == 0:
            where = {"update": update, "samples": update * gain.numel(), "mean_return": means[-1]}
            found = probe.measure(*batch[:6], advantages=gain, **where).actor  # probe
            noise = f"ess ratio {found.ess_ratio}, noise scale {found.noise_scale}"
            print(f"update {update:3d}: return {means[-1]:.1f}, {noise}", flush=True)
        learn(agent, optimiser, batch, gain, args)
    if args.every:
        print(probe.summary(minibatch=args.minibatch, epochs=args.epochs, updates=update))  # probe
    if args.out is not None:
        print(probe.write_page())
    return agent, means


def read_options(words: list[str] | None = None) -> argparse.Namespace:
    """What the command line asks for."""
    parser = argparse.ArgumentParser(description="PPO in a single file, with a probe.")
    parser.add_argument("--env", default="CartPole-v1")
    parser.add_argument("--out", help="a folder that keeps what was measured, and its page")
    numbers = {"envs": 16, "steps": 64, "minibatch": 256, "epochs": 4, "total": 50_000}
    for name, usual in {**numbers, "seed": 0, "every": 5, "learning-rate": 1e-3}.items():
        parser.add_argument(f"--{name}", type=type(usual), default=usual)
    return parser.parse_args(words)


if __name__ == "__main__":
    torch.set_num_threads(1)
    train(read_options())
