"""From an update's arrays to a row of the metrics table, refusing what is not a number."""

import math
from typing import Any, NamedTuple

import numpy as np

from nbyt.errors import EnvError
from nbyt.train.plan import RunPlan

Row = dict[str, Any]


class UpdateMetrics(NamedTuple):
    """An update that was made, the last of several or one; numbers may still be on their way."""

    number: int
    numbers: dict[str, Any]


def finite(value: Any) -> float | None:
    """The value as a float; None where it is not finite."""
    return float(value) if math.isfinite(float(value)) else None


def env_fault(plan: RunPlan, env: int, step: int, action: np.ndarray) -> EnvError:
    """The error for a number that is not finite, in that env's so-manieth step."""
    return EnvError(
        f"env '{plan.env}' gave a reward or observation that is not finite",
        where=f"env {env}, step {step}, seed {plan.seed}, action {np.asarray(action).tolist()}",
        fix=f"run `nbyt check-env {plan.env} --seed {plan.seed}` to look at it, "
        "or train with --on-nonfinite drop",
    )
