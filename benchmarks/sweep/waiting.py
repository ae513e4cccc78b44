"""An env that waits for somebody else: a few milliseconds a step, and nothing to compute."""

import time

import gymnasium

SECONDS = 0.002


class Waiting(gymnasium.Wrapper):
    """FrozenLake, of which every step takes a while."""

    def step(self, action):
        time.sleep(SECONDS)
        return super().step(action)


def make() -> gymnasium.Env:
    """The env."""
    return Waiting(gymnasium.make("FrozenLake-v1", disable_env_checker=True))
