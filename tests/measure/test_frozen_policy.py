"""A stage as it is measured: known by its weights, collected here or by somebody else."""

from dataclasses import replace

import numpy as np

from nbyt.collect.segment import PoolPlan
from nbyt.envs import resolve
from nbyt.measure.frozen_policy import FrozenPolicy, FrozenStage, hashed
from nbyt.policy.actor_critic import table

LAKE = table(np.zeros((16, 4)), np.zeros(16))


def frozen(env: str, **given: object) -> FrozenStage:
    return FrozenStage(resolve(env), LAKE, **given)


def test_a_stage_is_a_frozen_policy_and_says_what_its_env_can() -> None:
    device, host = frozen("tabular:FrozenLake-v1"), frozen("gym:FrozenLake-v1")
    assert isinstance(device, FrozenPolicy) and isinstance(host, FrozenPolicy)
    assert device.passes_time_limits and not host.passes_time_limits
    scaled = FrozenStage(device.env, replace(LAKE, facts={"reward_scale": 2.5}))
    assert (device.reward_unit, scaled.reward_unit) == (1.0, 2.5)


def test_the_fingerprint_is_that_of_the_weights_alone() -> None:
    one, other = frozen("tabular:FrozenLake-v1"), frozen("gym:FrozenLake-v1")
    moved = FrozenStage(one.env, table(np.zeros((16, 4)), np.eye(16)[0]))
    assert one.fingerprint == other.fingerprint != moved.fingerprint
    a, b = np.zeros(2), np.ones(2)
    assert hashed({"a": a, "b": b}) == hashed({"b": b, "a": a}) != hashed({"a": b, "b": a})


def test_only_pools_of_host_envs_are_collected_by_others() -> None:
    asked = []

    def collector(env, stage, plan, progress):
        asked.append(env.id)
        return "a pool"

    plan = PoolPlan(2, 4, 0, 0.9, seed=1, envs=2)
    assert frozen("gym:FrozenLake-v1", collector=collector).collect(plan, print) == "a pool"
    pool = frozen("tabular:FrozenLake-v1", collector=collector).collect(
        plan, lambda done, total: None
    )
    assert asked == ["gym:FrozenLake-v1"] and pool.reward.shape == (4, 2)
