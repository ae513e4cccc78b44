"""Rollouts [T, N, ...]: on the device by a compiled scan, on the host from vector envs."""

from nbyt.collect.evaluate import Evaluation as Evaluation
from nbyt.collect.pool import Pool as Pool
from nbyt.collect.rollout import Rollout as Rollout
