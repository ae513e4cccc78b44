"""Learning curves: how good the policy was at a few moments of its training."""

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np

from nbyt.collect.evaluate import Evaluation, episode_returns
from nbyt.envs.protocol import DeviceEnv, HostEnv
from nbyt.errors import EnvError
from nbyt.train.adaptive import AdaptivePlan
from nbyt.train.algorithms.registry import build_algorithm
from nbyt.train.plan import PPOPlan


class Curve(NamedTuple):
    """Mean returns of whole episodes of the frozen policy, and the samples seen by then.

    Not of the episodes of training itself: with many envs and few updates those are the short
    ones, as the long ones have not ended yet.
    unfinished: episodes, of all that were played, that had to be cut.
    """

    samples: tuple[int, ...]
    returns: tuple[float, ...]
    unfinished: int

    def as_dict(self) -> dict[str, Any]:
        """Plain values."""
        return {
            "samples": list(self.samples),
            "returns": list(self.returns),
            "unfinished": self.unfinished,
        }


def curve_from(facts: dict[str, Any]) -> Curve:
    """The curve that `as_dict` described."""
    return Curve(tuple(facts["samples"]), tuple(facts["returns"]), int(facts["unfinished"]))


def train_curve(
    plan: PPOPlan | AdaptivePlan,
    env: DeviceEnv | HostEnv,
    watch: Callable[[int], None] = lambda updates: None,
) -> Curve:
    """One training; its plan's stages are the points of the curve.

    watch: called with the number of updates made.
    """
    algorithm = build_algorithm(plan, env)
    played: list[Evaluation] = []
    try:
        for made in algorithm.updates(1):
            algorithm.row(made)
            watch(made.number)
            if made.number in plan.stages:
                played.append(episode_returns(env, algorithm.policy, algorithm.params, plan.seed))
    finally:
        algorithm.close()
    return curve_of(plan, played)


def curve_of(plan: PPOPlan | AdaptivePlan, played: list[Evaluation]) -> Curve:
    """The curve of what was played at the plan's stages; an error where a reward was no number."""
    spoiled = sum(one.spoiled for one in played)
    if spoiled and plan.settings.on_nonfinite == "stop":
        raise EnvError(
            f"env '{plan.env}' gave a reward that is not finite",
            where=f"{spoiled} of the episodes that were played, seed {plan.seed}",
            fix=f"run `nbyt check-env {plan.env}`, or use --on-nonfinite drop",
        )
    samples = tuple(number * plan.layout.batch for number in plan.stages)
    returns = tuple(float(np.mean(one.returns)) for one in played)
    return Curve(samples, returns, sum(one.unfinished for one in played))
