"""Envs of a factory, started and stepped."""

import numpy as np

from nbyt.envs import gymnasium_suite


def start(factory, envs=3, **how):
    return gymnasium_suite.GymnasiumEnv("corridor:it", factory).start(envs, **how)


def go_left(running) -> None:
    """Five steps of every env."""
    for _ in range(5):
        running.step(np.zeros(running.envs, int))
