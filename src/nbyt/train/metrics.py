"""From an update's arrays to a row of the metrics table, refusing what is not a number."""

import math
from typing import Any, NamedTuple

import jax
import numpy as np

from nbyt.errors import EnvError, TrainingError
from nbyt.train.dqn_plan import DQNPlan
from nbyt.train.plan import PPOPlan
from nbyt.train.ppo import Update

Row = dict[str, Any]


class UpdateMetrics(NamedTuple):
    """An update that was made, the last of several or one; numbers may still be on their way."""

    number: int
    numbers: dict[str, Any]


def row_of(plan: PPOPlan, update: Update | UpdateMetrics) -> Row:
    """The update's numbers as plain floats; an error where the env or the loss gave a NaN."""
    numbers = jax.device_get(update.numbers)
    action = numbers.pop("fault_action")
    fault = int(numbers.pop("fault"))
    if fault >= 0 and plan.settings.on_nonfinite == "stop":
        time, env = divmod(fault, plan.layout.envs)
        step = (update.number - 1) * plan.layout.steps + time + 1
        raise env_fault(plan, env, step, action)
    count = float(numbers.pop("episodes"))
    returns, lengths = float(numbers.pop("returns")), float(numbers.pop("lengths"))
    row = {
        "update": update.number,
        "steps": update.number * plan.layout.batch,
        "episodes": int(count),
        "mean_return": returns / count if count else None,
        "mean_length": lengths / count if count else None,
        **{name: finite(value) for name, value in sorted(numbers.items())},
    }
    if row["policy_loss"] is None or row["value_loss"] is None:
        raise TrainingError(
            "the loss is not a finite number any more",
            where=f"update {update.number}, seed {plan.seed}",
            fix="lower --learning-rate, or try --normalise-rewards",
        )
    return row


def finite(value: Any) -> float | None:
    """The value as a float; None where it is not finite."""
    return float(value) if math.isfinite(float(value)) else None


def env_fault(plan: PPOPlan | DQNPlan, env: int, step: int, action: np.ndarray) -> EnvError:
    """The error for a number that is not finite, in that env's so-manieth step."""
    return EnvError(
        f"env '{plan.env}' gave a reward or observation that is not finite",
        where=f"env {env}, step {step}, seed {plan.seed}, action {np.asarray(action).tolist()}",
        fix=f"run `nbyt check-env {plan.env} --seed {plan.seed}` to look at it, "
        "or train with --on-nonfinite drop",
    )
