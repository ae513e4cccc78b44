"""Rollouts [T, N, ...]: on the device by a compiled scan, on the host from vector envs."""

from nbyt.collect.rollout import Rollout as Rollout
