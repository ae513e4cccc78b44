"""A short run on every kind of environment, head and network that is promised."""

import math
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from nbyt.layout import Layout
from nbyt.policy.files import read_stage
from nbyt.store.files import METRICS
from nbyt.store.run import Folder, open_run
from nbyt.training.loop import train
from nbyt.training.plan import PPOPlan, PPOSettings

LAYOUT = Layout(envs=4, steps=16, minibatch=32, epochs=2)
TINY = Layout(envs=2, steps=2, minibatch=2, epochs=1)  # a large picture takes a while


CASES: dict[str, tuple[str, dict[str, Any], dict[str, Any]]] = {
    "table": ("tabular:CliffWalking-v1", {}, {}),
    "two rewards for one state": ("tabular:CliffWalkingSlippery-v1", {}, {}),
    "one-hot": ("tabular:CliffWalking-v1", {"network": "8"}, {}),
    "continuous": ("gymnax:Pendulum-v1", {"network": "8", "normalise_rewards": True}, {}),
    "images": ("gymnax:Breakout-MinAtar", {}, {}),
    "large images": ("tests.training.toy_envs:Pictures", {"shared": True}, {"layout": TINY}),
    "dials": ("tests.training.toy_envs:Dials", {"network": "8", "stagger": True}, {}),
    "processes": ("gym:CartPole-v1", {"network": "8", "stagger": True}, {"vector": "async"}),
    "mujoco": ("gym:Hopper-v5", {"network": "8", "normalise_observations": True}, {}),
    "envpool": ("envpool:CartPole-v1", {"network": "8", "stagger": True}, {}),
    "shared": ("gymnax:CartPole-v1", {"network": "8", "shared": True, "value_clip": 0.2}, {}),
}


@pytest.mark.parametrize("case", CASES)
def test_trains(tmp_path: Path, case: str) -> None:
    if case in ("mujoco", "envpool"):
        pytest.importorskip(case)
    env, settings, more = CASES[case]
    more = {"layout": LAYOUT} | more
    total = 3 * more["layout"].batch
    plan = PPOPlan(
        env, total=total, seed=1, settings=PPOSettings(**settings), stages=(1, 3), **more
    )
    result = train(plan, open_run(tmp_path, plan.identity()))
    assert math.isfinite(result.final_return.value)
    rows = Folder(tmp_path).read(METRICS)
    assert [row["steps"] for row in rows] == [total // 3, 2 * total // 3, total]
    before, after = (read_stage(Path(stage)).params for stage in result.stages)
    leaves = zip(_weights(before), _weights(after), strict=True)
    assert any(not np.array_equal(one, other) for one, other in leaves)


def _weights(params: Any) -> list[np.ndarray]:
    import jax

    return [np.asarray(leaf) for leaf in jax.tree.leaves((params.actor, params.critic))]


@pytest.mark.learns
def test_dials_are_learned(tmp_path: Path) -> None:
    """Independent choices each get their own credit: the second dial is found."""
    layout = Layout(envs=8, steps=64, minibatch=128, epochs=8)
    settings = PPOSettings(network="16", learning_rate=3e-3)
    env = "tests.training.toy_envs:Dials"
    plan = PPOPlan(env, layout, 40 * layout.batch, 1, settings, (40,))
    result = train(plan, open_run(tmp_path, plan.identity()))
    assert result.final_return.low > 15  # by chance 20 / 3
