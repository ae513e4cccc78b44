"""What really happens: PPO trained with each layout, by the return over the whole of training."""

import tempfile
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks.advice.ask import BATCH
from nbyt.collect.evaluate import episode_returns
from nbyt.envs import resolve
from nbyt.layout import Layout
from nbyt.policy.files import read_stage
from nbyt.stats import mean
from nbyt.store.files import STAGE
from nbyt.store.run import open_run
from nbyt.train.loop import train
from nbyt.train.plan import PPOPlan, PPOSettings, stage_updates

ENVS = ("CartPole-v1", "Acrobot-v1")
STEPS = (2, 8, 32, 128, 1024)
TOTAL = 200_000
_STAGES = 12
_MINIBATCH, _EPOCHS = 256, 4


def trained(env: str, steps: int, seed: int) -> dict[str, Any]:
    """The mean return of each of twelve evenly spaced stages, of 64 episodes each."""
    found = resolve(env)
    layout = Layout(BATCH // steps, steps, _MINIBATCH, _EPOCHS)
    stages = stage_updates(layout.updates(TOTAL), count=_STAGES)
    plan = PPOPlan(found.id, layout, TOTAL, seed, PPOSettings(), stages)
    with tempfile.TemporaryDirectory() as folder:
        run = open_run(Path(folder) / "run", plan.identity())
        train(plan, run, env=found)
        kept = [read_stage(path) for path in run.present(STAGE)]
    returns = [
        float(episode_returns(found, one.policy, one.params, seed).returns.mean()) for one in kept
    ]
    return {"seed": seed, "updates": list(stages), "returns": returns}


def summarised(rows: list[dict[str, Any]]) -> dict[str, Any]:
    """The mean over training, and the last return, with intervals over the seeds."""
    over = np.array([np.mean(row["returns"]) for row in rows])
    last = np.array([row["returns"][-1] for row in rows])
    return {
        "seeds": len(rows),
        "over_training": mean(over).as_dict(),
        "at_the_end": mean(last).as_dict(),
    }
