"""A check with a known answer: PPO on a table, its return measured and computed exactly."""

from pathlib import Path
from typing import Any, NamedTuple

import jax
import numpy as np
from jaxtyping import Float

from nbyt.collect.evaluate import episode_returns
from nbyt.envs import tabular
from nbyt.envs.tabular import TabularEnv
from nbyt.errors import EnvUsageError
from nbyt.layout import Layout
from nbyt.policy.files import read_stage
from nbyt.stats import Estimate, mean
from nbyt.store.files import STAGE
from nbyt.store.run import open_run
from nbyt.training.loop import train
from nbyt.training.plan import PPOPlan, PPOSettings

_ENV = "FrozenLake-v1"
_EVALUATIONS = 8
# Standard errors between measured and exact that chance explains: about 1 run in 16,000 has more.
_LARGEST_GAP = 4.0


class Control(NamedTuple):
    """The measured mean return of a trained policy, and its exact one."""

    measured: Estimate
    exact: float
    gap: float

    @property
    def agrees(self) -> bool:
        """Return True if chance explains the difference."""
        return abs(self.gap) <= _LARGEST_GAP

    def as_dict(self) -> dict[str, Any]:
        return {
            "env": f"tabular:{_ENV}",
            "measured": self.measured.as_dict(),
            "exact": self.exact,
            "standard_errors_apart": self.gap,
            "agrees": self.agrees,
        }


def run_control(folder: Path, seed: int) -> Control:
    """Train on FrozenLake in `folder`; measure the final policy's return and compute it exactly."""
    env = tabular.find(_ENV)
    if env is None:
        raise EnvUsageError(f"Gymnasium has no {_ENV}", fix="install gymnasium[toy-text]")
    settings = PPOSettings(learning_rate=0.01, network="table")
    layout = Layout(envs=32, steps=64, minibatch=512, epochs=4)
    plan = PPOPlan(env.id, layout, 100_000, seed, settings, (layout.updates(100_000),))
    run = open_run(folder / "control", plan.identity())
    train(plan, run)
    stage = read_stage(run.path_of(STAGE, 1))
    returns = np.concatenate(
        [
            episode_returns(env, stage.policy, stage.params, seed + 1 + turn).returns
            for turn in range(_EVALUATIONS)
        ]
    )
    logits = np.asarray(stage.params.actor["logits"])
    exact = exact_return(env, np.asarray(jax.nn.softmax(logits)))
    error = returns.std(ddof=1) / np.sqrt(len(returns))
    gap = 0.0 if returns.mean() == exact else float((returns.mean() - exact) / max(error, 1e-12))
    return Control(mean(returns), exact, gap)


def exact_return(env: TabularEnv, policy: Float[np.ndarray, "S A"]) -> float:
    """Compute the mean return of an episode, backwards from the time limit."""
    assert env.time_limit is not None, "an episode without limit has no last step to start from"
    found, value = env.outcomes, np.zeros(len(env.start))
    for _ in range(env.time_limit):
        rest = found.reward + ~found.terminated * value[found.state]
        value = (policy[..., None] * found.probability * rest).sum(axis=(1, 2))
    return float(env.start @ value)
