"""Advice on tables, where the alignment of every layout is known exactly."""

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np

from benchmarks.advice.ask import BATCH, per_sample
from nbyt.envs import tabular
from nbyt.exact import Control, frozenlake, garnet, moments, sticky, taxi
from nbyt.exact.values import optimal_values, policy_values
from nbyt.policy.actor_critic import Stage, table
from nbyt.train.plan import PPOSettings

STEPS = tuple(4**power for power in range(6))
# Within this share of the best; and what counts as a difference that a tool must see.
NEAR, LARGE = 0.05, 0.2


def _cliff() -> Control:
    """CliffWalking with a softmax of the best action values, and a critic of half the values."""
    env = tabular.find("CliffWalking-v1")
    assert env is not None
    env = replace(env, id="tabular:CliffWalking-no-limit", time_limit=None)
    logits = optimal_values(env, 0.99).action / 2.0
    chances = np.exp(logits - logits.max(axis=1, keepdims=True))
    chances /= chances.sum(axis=1, keepdims=True)
    made = table(logits, 0.5 * policy_values(env, chances, 0.99).state)
    stage = Stage(made.policy, made.params, {"env": env.id})
    return replace(taxi(), name="cliff", env=env, stage=stage, sentence="A wrong critic.")


def _without_critic(policy: str) -> Control:
    """FrozenLake with a critic that says 0 everywhere."""
    control = frozenlake(policy)
    logits = control.stage.params.actor["logits"]
    made = table(logits, np.zeros(len(logits)))
    return replace(control, stage=Stage(made.policy, made.params, control.stage.facts))


CASES: dict[str, Callable[[], Control]] = {
    "FrozenLake, uniform": lambda: frozenlake("uniform"),
    "FrozenLake, middle": lambda: frozenlake("mid"),
    "FrozenLake, late": lambda: frozenlake("late"),
    "FrozenLake, middle, critic 0": lambda: _without_critic("mid"),
    "Taxi": taxi,
    "CliffWalking": _cliff,
    **{f"random MDP {seed}": lambda seed=seed: garnet(6, 2, seed) for seed in range(10)},
    "sticky context": sticky,
}


def exact_alignments(control: Control) -> list[float]:
    """The alignment of every layout, calculated; 0 where there is no true gradient."""
    found = []
    for steps in STEPS:
        given = {"steps": steps, "gamma": control.gamma, "lam": control.lam}
        own = moments(control.env, control.stage, **given).actor
        along = float(np.vdot(own.mean, own.reference))
        reference = float(np.vdot(own.reference, own.reference))
        length = float(np.vdot(own.mean, own.mean)) + float(own.variance) * steps / BATCH
        found.append(along * abs(along) / (reference * length) if reference > 1e-20 else 0.0)
    return found


def advised(control: Control, seed: int) -> dict[str, Any]:
    """What the advice says of the control's stage."""
    found = per_sample(
        control.env,
        seed,
        stages=[control.stage],
        steps=STEPS,
        settings=PPOSettings(gamma=control.gamma, lam=control.lam),
    )["advice"]["per_sample"]
    return {
        "seed": seed,
        "steps": found["steps"],
        "open": found["no_measurable_difference"],
        "ties": [steps for _, steps in found["ties"]],
        "win_share": found["win_share"],
    }


def judged(exact: list[float], rows: list[dict[str, Any]]) -> dict[str, Any]:
    """How often the advice was near the best, how often it was silent, and whether it might be."""
    best, middle = max(exact), float(np.median(exact))
    share = [exact[STEPS.index(row["steps"])] / best if best > 0 else 1.0 for row in rows]
    near = [one >= 1 - NEAR for one in share]
    silent = [row["open"] for row in rows]
    must_see = best > 0 and best > (1 + LARGE) * middle
    right = float(np.mean([a or b for a, b in zip(near, silent, strict=True)]))
    return {
        "exact": dict(zip(map(str, STEPS), exact, strict=True)),
        "seeds": len(rows),
        "near_or_silent": right,
        "near": float(np.mean(near)),
        "silent": float(np.mean(silent)),
        "difference_is_large": must_see,
        "worst_share": float(min(share)),
        "passes": right >= 0.95 and (not must_see or float(np.mean(silent)) <= 0.2),
    }
