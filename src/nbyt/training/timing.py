"""Seconds of an update of PPO, measured on trainings whose policies are discarded."""

import time

import jax

from nbyt.envs.protocol import DeviceEnv, HostEnv
from nbyt.layout import Layout, nearest_divisors
from nbyt.training.algorithms.ppo import PPOAlgorithm
from nbyt.training.plan import PPOPlan, PPOSettings

# A turn lasts about so long, so that the clock's own grain and the machine's hiccups are small.
_TURN_SECONDS = 0.2
# Samples times epochs of an update that is tried once.
_MOST_TRIED = 2**20
# Samples of a training that is stopped when it has been timed.
_ENDLESS = 10**15


def update_seconds(
    env: DeviceEnv | HostEnv, settings: PPOSettings, layout: Layout, *, vector: str = "sync"
) -> float:
    """Time one update after one that compiles; a huge one is extrapolated from a part."""
    tried = _tried(layout)
    trainer = TimedPPO(env, settings, tried, vector)
    trainer.close()
    parts = layout.batch * layout.epochs / (tried.batch * tried.epochs)
    return trainer.first * parts


def _tried(layout: Layout) -> Layout:
    """Return the layout, or as much of it as takes a few seconds."""
    steps = min(layout.steps, _MOST_TRIED)
    envs = min(layout.envs, max(1, _MOST_TRIED // steps))
    epochs = min(layout.epochs, max(1, _MOST_TRIED // (envs * steps)))
    minibatch = nearest_divisors(envs * steps, min(layout.minibatch, envs * steps))[0]
    return Layout(envs, steps, minibatch, epochs)


def updates_of_a_turn(seconds: float) -> int:
    """Return how many updates make a turn, given the seconds of one."""
    return max(1, round(_TURN_SECONDS / max(seconds, 1e-3)))


class TimedPPO:
    """PPO with one layout, warmed up; its policy is discarded."""

    def __init__(
        self, env: DeviceEnv | HostEnv, settings: PPOSettings, layout: Layout, vector: str
    ) -> None:
        self.layout = layout
        self._training = PPOAlgorithm(
            PPOPlan(env.id, layout, _ENDLESS, 0, settings, (), vector), env
        )
        self._updates = self._training.updates(1)
        self._go(1)
        self.first = self._go(1)
        self._turn = updates_of_a_turn(self.first)

    def seconds(self) -> float:
        """Return the seconds of one update, averaged over a turn."""
        return self._go(self._turn) / self._turn

    def close(self) -> None:
        """Close the envs."""
        self._training.close()

    def _go(self, count: int) -> float:
        began = time.perf_counter()
        for _ in range(count):
            next(self._updates)
        jax.block_until_ready(self._training.params)
        return time.perf_counter() - began
