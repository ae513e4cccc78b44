"""What a sampler costs on a real rollout: batches of a frozen policy, cut by the sampler."""

import tempfile
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import jax
import numpy as np
from jaxtyping import Float

from nbyt.envs.protocol import DeviceEnv, HostEnv
from nbyt.layout import Layout
from nbyt.measure.chains import Progress
from nbyt.measure.cuts import CutBatch, cut_batch, slots
from nbyt.measure.frozen import frozen_batches
from nbyt.minibatch import Audit
from nbyt.minibatch.asked import Asked, usual_split
from nbyt.minibatch.penalty import squared_weights
from nbyt.minibatch.reading import read
from nbyt.minibatch.rules import Minibatches
from nbyt.objective.ppo import Batch
from nbyt.policy.files import read_stage
from nbyt.policy.stage import Stage
from nbyt.stats.estimate import Estimate
from nbyt.stats.penalty import Drawn, penalty
from nbyt.stats.sampling import spread
from nbyt.store.run import open_run
from nbyt.train.loop import Watch, train
from nbyt.train.plan import PPOPlan
from nbyt.train.settings import PPOSettings

ENV = "gymnax:CartPole-v1"
_TRAINING = Layout(envs=16, steps=128, minibatch=256, epochs=4)
_TRAINED = 10
# Samples of all batches together, and the batches that they make.
_SAMPLES = 1 << 17
_BATCHES = (8, 64)
# Indices of one batch's mini-batches that are looked at.
_INDICES = 1 << 16
# Seeds of these updates are none that the audit itself uses.
_FIRST_SEED = 1 << 20


@dataclass(frozen=True)
class Cost:
    """What a sampler costs one gradient: by the formula for its mini-batches' sizes, and measured.

    formula: None where samples of a mini-batch are correlated.
    """

    formula: Estimate | None
    measured: Estimate

    @property
    def best(self) -> Estimate:
        """By the formula where there is one: it has no noise of its own."""
        return self.formula or self.measured

    def as_dict(self) -> dict[str, Any]:
        """Plain data."""
        formula = self.formula.as_dict() if self.formula else None
        return {"formula": formula, "measured": self.measured.as_dict()}


@dataclass(frozen=True)
class Rollouts:
    """The batches that a sampler is measured on, before any is collected."""

    envs: int
    steps: int
    batches: int

    def as_dict(self) -> dict[str, int]:
        """Plain data."""
        samples = self.envs * self.steps * self.batches
        return {
            "envs": self.envs,
            "steps": self.steps,
            "batches": self.batches,
            "samples": samples,
        }


def planned(asked: Asked) -> Rollouts:
    """How many batches, of which shape."""
    envs, steps = (asked.envs, asked.steps) if asked.envs else usual_split(asked.batch)
    return Rollouts(envs, steps, int(np.clip(_SAMPLES // asked.batch, *_BATCHES)))


def brief_stage(env: DeviceEnv | HostEnv, seed: int, progress: Progress) -> Stage:
    """A policy that was trained for a moment: no longer random, still learning."""
    plan = PPOPlan(env.id, _TRAINING, _TRAINED * _TRAINING.batch, seed, PPOSettings(), (_TRAINED,))
    with tempfile.TemporaryDirectory() as folder:
        run = open_run(Path(folder) / "run", plan.identity(), manifest={})
        train(plan, run, (Watch(progress, "training", _TRAINED),), env=env)
        return read_stage(run.stages()[-1])


def measured_cost(
    sampler: Callable[..., Any],
    audit: Audit,
    env: DeviceEnv | HostEnv,
    stage: Stage,
    *,
    seed: int = 0,
    progress: Progress = lambda what, done, total: None,
) -> dict[str, Cost]:
    """What the sampler costs the actor's and the critic's gradient, on rollouts of the stage."""
    rollouts = planned(audit.asked)
    asked = replace(audit.asked, envs=rollouts.envs, steps=rollouts.steps)
    batches = _collected(env, stage, rollouts, seed, progress)
    cuts = list(_cuts(sampler, asked, len(batches), seed))
    advantage = np.stack([np.asarray(batch.advantage) for batch in batches])
    weights = {"actor": (advantage - advantage.mean()) / advantage.std(), "critic": advantage}
    found = {}
    for part, weight in weights.items():
        rows = []
        for number, (batch, cut) in enumerate(zip(batches, _padded(cuts), strict=True), start=1):
            own = cut_batch(stage.policy, stage.params, part, batch, weight[number - 1], cut)
            rows.append(jax.device_get(own))
            progress(f"{part}'s mini-batches", number, len(batches))
        found[part] = _cost(rows, audit)
    return found


def _collected(
    env: DeviceEnv | HostEnv, stage: Stage, rollouts: Rollouts, seed: int, progress: Progress
) -> list[Batch]:
    known = stage.facts.get("settings", {})
    settings = PPOSettings(gamma=known.get("gamma", 0.99), lam=known.get("lambda", 0.95))
    return frozen_batches(
        env,
        stage,
        Layout(rollouts.envs, rollouts.steps),
        settings,
        rollouts.batches,
        seed=seed,
        progress=lambda done, total: progress("rollouts", done, total),
    )


def _cuts(
    sampler: Callable[..., Any], asked: Asked, batches: int, seed: int
) -> Iterator[Minibatches]:
    """An update's mini-batches for each batch, thinned where there are many, in our order."""
    for number in range(batches):
        own = seed + _FIRST_SEED + number
        given = read(sampler, asked.batch, asked.minibatch, asked.epochs, own)
        step = -(-sum(len(one) for one in given) // _INDICES)
        yield [asked.as_time_major(one) for one in given[::step]]


def _padded(cuts: list[Minibatches]) -> Iterator[Any]:
    """All in arrays of one shape, so that one program serves them."""
    count = max(len(cut) for cut in cuts)
    size = max(len(one) for cut in cuts for one in cut)
    return (slots(cut, count, size) for cut in cuts)


def _cost(rows: list[CutBatch], audit: Audit) -> Cost:
    columns = (np.array(column, float) for column in zip(*rows, strict=True))
    gradient, mean_square, mean, square = columns
    asked, products = audit.asked, gradient @ gradient.T
    scatter = np.asarray(spread(mean_square, np.diagonal(products), asked.batch))
    shuffled = _drawn(products, scatter, 1 / asked.minibatch - 1 / asked.batch)
    formula = None
    if audit.variance_penalty.value is not None:
        added = squared_weights(audit.updates) - 1 / asked.batch
        formula = penalty(_drawn(products, scatter, added), shuffled)
    return Cost(formula, penalty(Drawn(mean @ mean.T, square), shuffled))


def _drawn(
    products: Float[np.ndarray, "k k"], scatter: Float[np.ndarray, " k"], added: float
) -> Drawn:
    """Mini-batches around G_B that add so much S²."""
    return Drawn(products, np.diagonal(products) + added * scatter)
