"""CartPole and PPO in torch, written from the textbook: nothing of nbyt is used here."""

from dataclasses import dataclass

import torch
from torch import nn

GAMMA, LAM, LIMIT = 0.99, 0.95, 500
_GRAVITY, _CART, _POLE, _HALF, _PUSH, _TICK = 9.8, 1.0, 0.1, 0.5, 10.0, 0.02


class Envs:
    """Many carts at once; an episode ends by a fall or after 500 steps, and another begins."""

    def __init__(self, count: int, draws: torch.Generator) -> None:
        """Begin every cart near the middle."""
        self.draws = draws
        self.state = self._begin(count)
        self.age = torch.zeros(count)

    def _begin(self, count: int) -> torch.Tensor:
        return torch.rand(count, 4, generator=self.draws) * 0.1 - 0.05

    def step(self, action: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor, torch.Tensor]:
        """Push every cart: return where it went, whether it fell, and whether time was up."""
        after = moved(self.state, action)
        self.age = self.age + 1
        fell = fallen(after)
        late = (self.age >= LIMIT) & ~fell
        over = fell | late
        self.state = torch.where(over[:, None], self._begin(len(after)), after)
        self.age = torch.where(over, 0.0, self.age)
        return after, fell, late


def moved(state: torch.Tensor, action: torch.Tensor) -> torch.Tensor:
    """Return the states a fiftieth of a second later (Barto, Sutton and Anderson)."""
    x, speed, angle, turn = state.T
    force = torch.where(action == 1, _PUSH, -_PUSH)
    mass, moment = _CART + _POLE, _POLE * _HALF
    pull = (force + moment * turn**2 * angle.sin()) / mass
    spin = (_GRAVITY * angle.sin() - angle.cos() * pull) / (
        _HALF * (4 / 3 - _POLE * angle.cos() ** 2 / mass)
    )
    push = pull - moment * spin * angle.cos() / mass
    rates = torch.stack([speed, push, turn, spin])
    return (torch.stack([x, speed, angle, turn]) + _TICK * rates).T


def fallen(state: torch.Tensor) -> torch.Tensor:
    """Return which carts left the track or dropped the pole."""
    return (state[:, 0].abs() > 2.4) | (state[:, 2].abs() > 12 * torch.pi / 180)


def network(outputs: int) -> nn.Sequential:
    """Return a small network."""
    layers = (nn.Linear(4, 32), nn.Tanh(), nn.Linear(32, 32), nn.Tanh(), nn.Linear(32, outputs))
    return nn.Sequential(*layers)


@dataclass(frozen=True)
class Rollout:
    """T steps of n carts, [T, n]; `following` is the critic's value of what came next."""

    state: torch.Tensor
    action: torch.Tensor
    value: torch.Tensor
    following: torch.Tensor
    over: torch.Tensor

    def advantages(self, lam: float, steps: int | None = None) -> torch.Tensor:
        """Return generalised advantages, cut after every so many steps."""
        delta = 1.0 + GAMMA * self.following - self.value
        found, carry = torch.zeros_like(delta), torch.zeros(delta.shape[1])
        for t in reversed(range(len(delta))):
            cut = self.over[t] | (steps is not None and (t + 1) % steps == 0)
            carry = delta[t] + GAMMA * lam * torch.where(cut, 0.0, carry)
            found[t] = carry
        return found


@torch.no_grad()
def collect(envs: Envs, actor: nn.Module, critic: nn.Module, steps: int) -> Rollout:
    """Let the policy push the carts for so many steps."""
    rows = []
    for _ in range(steps):
        state = envs.state
        chance = torch.softmax(actor(state), 1)[:, 1]
        draw = torch.rand(len(state), generator=envs.draws)
        action = (draw < chance).long()
        after, fell, late = envs.step(action)
        following = torch.where(fell, 0.0, critic(after)[:, 0])
        rows.append((state, action, critic(state)[:, 0], following, fell | late))
    return Rollout(*(torch.stack(column) for column in zip(*rows, strict=True)))


def train(seed: int, updates: int) -> tuple[nn.Module, nn.Module]:
    """Train by PPO: 16 carts x 128 steps, 4 epochs of mini-batches of 256, as the study does."""
    torch.manual_seed(seed)
    draws = torch.Generator().manual_seed(seed)
    actor, critic, envs = network(2), network(1), Envs(16, draws)
    weights = [*actor.parameters(), *critic.parameters()]
    optimiser = torch.optim.Adam(weights, lr=3e-4, eps=1e-5)
    for _ in range(updates):
        batch = collect(envs, actor, critic, 128)
        advantage = batch.advantages(LAM).reshape(-1)
        state, action = batch.state.reshape(-1, 4), batch.action.reshape(-1)
        goal = advantage + batch.value.reshape(-1)
        with torch.no_grad():
            before = _log_chance(actor, state, action)
        for _ in range(4):
            for rows in torch.randperm(len(state), generator=draws).split(256):
                own = advantage[rows]
                own = (own - own.mean()) / (own.std() + 1e-8)
                ratio = (_log_chance(actor, state[rows], action[rows]) - before[rows]).exp()
                gain = torch.minimum(ratio * own, ratio.clamp(0.8, 1.2) * own).mean()
                error = ((critic(state[rows])[:, 0] - goal[rows]) ** 2).mean()
                optimiser.zero_grad()
                (0.25 * error - gain).backward()
                nn.utils.clip_grad_norm_(weights, 0.5)
                optimiser.step()
    return actor, critic


def _log_chance(actor: nn.Module, state: torch.Tensor, action: torch.Tensor) -> torch.Tensor:
    return torch.log_softmax(actor(state), 1).gather(1, action[:, None])[:, 0]


def scores(part: nn.Module, state: torch.Tensor, action: torch.Tensor | None) -> torch.Tensor:
    """Return the gradient of every step's log-probability, or of its value, [steps, P]."""
    weights = dict(part.named_parameters())

    def of_one(own: dict[str, torch.Tensor], one: torch.Tensor, did: torch.Tensor) -> torch.Tensor:
        out = torch.func.functional_call(part, own, (one[None],))[0]
        if action is None:
            return out[0]
        return torch.log_softmax(out, 0).gather(0, did[None])[0]

    did = torch.zeros(len(state), dtype=torch.long) if action is None else action
    made = torch.func.vmap(torch.func.grad(of_one), (None, 0, 0))(weights, state, did)
    return torch.cat([made[name].reshape(len(state), -1) for name in weights], 1).detach()
