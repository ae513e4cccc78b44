"""One batch of a training under way, measured from its own samples.

The batch's contributions are known: its advantages times its scores. What is independent in it
are the streams of its envs; where there are few of them, each is cut into pieces, which are nearly
independent if they are long, and everything is marked approximate.
"""

from dataclasses import dataclass, replace
from typing import Any, NamedTuple

import numpy as np
from jaxtyping import Float, Shaped

from nbyt.collect.pool import Pool
from nbyt.errors import UsageError
from nbyt.gradients.chains import products_of
from nbyt.gradients.engines import Engine
from nbyt.gradients.reduce import reduce_pool
from nbyt.gradients.spec import GradientSpec, plan_for
from nbyt.stats.pool import OBJECTIVES
from nbyt.stats.summary import BatchEstimates, describe_batch

# From so many envs on their streams are taken as they are; fewer are cut into so many pieces.
_ENOUGH, _PIECES = 8, 32
_LEAST, _SHORTEST = 4, 2
# Bytes that one measurement may go through; beyond, some units stand for all.
_MOST = 2**36


class LiveBatch(NamedTuple):
    """A batch as training sees it, N envs by T steps; advantages as they are before normalising."""

    observation: Shaped[np.ndarray, "T N ..."]
    action: Shaped[np.ndarray, "T N ..."]
    advantage: Float[np.ndarray, "T N"]


@dataclass(frozen=True)
class Loss:
    """The coefficients of the training's loss that a gradient depends on.

    value_coefficient weighs (V - target)² / 2. normalise: advantages get mean 0 and spread 1.
    """

    value_coefficient: float = 0.5
    entropy_coefficient: float = 0.0
    normalise: bool = True


@dataclass(frozen=True)
class BatchMeasurement:
    """The measured gradients of one batch.

    units: how many parts were taken as independent, of unit_steps each; whole: they are the
    streams of the envs, uncut. measured: units that were looked at, the others being like them.
    """

    envs: int
    steps: int
    units: int
    unit_steps: int
    measured: int
    gradients: dict[str, BatchEstimates]
    warnings: tuple[str, ...] = ()

    @property
    def whole(self) -> bool:
        """Return whether units are whole streams of envs."""
        return self.unit_steps == self.steps

    @property
    def actor(self) -> BatchEstimates:
        return self.gradients["actor"]

    @property
    def critic(self) -> BatchEstimates:
        return self.gradients["critic"]

    @property
    def total(self) -> BatchEstimates:
        return self.gradients["total"]

    def __str__(self) -> str:
        lines = [
            f"{self.envs} x {self.steps} samples, {self.units} units of {self.unit_steps} steps"
        ]
        for name, one in self.gradients.items():
            lines += [
                f"{name:>6}  ess ratio         {one.ess_ratio}",
                f"        covariance share  {one.covariance_share}",
                f"        noise scale       {one.noise_scale}",
            ]
        return "\n".join([*lines, *(f"note: {one}" for one in self.warnings)])

    def as_dict(self) -> dict[str, Any]:
        return {
            "units": {
                "count": self.units,
                "steps": self.unit_steps,
                "whole": self.whole,
                "measured": self.measured,
            },
            "gradients": {name: one.as_dict() for name, one in self.gradients.items()},
            "warnings": list(self.warnings),
        }


def measure_batch(
    engine: Engine, batch: LiveBatch, loss: Loss, *, memory: int = 2**30
) -> BatchMeasurement:
    """Measure the noise of a batch's gradients, at the weights that collected it."""
    steps, envs = batch.advantage.shape
    cuts = pieces(envs, steps)
    length, units = steps // cuts, envs * cuts
    # Of the batch as it is: a few last steps may be left over when its streams are cut.
    shares = envs * steps / length
    spec = GradientSpec(
        (length,),
        (0.0,),
        length,
        0.0,
        loss.normalise,
        loss.value_coefficient,
        loss.entropy_coefficient,
        joined=engine.shared or loss.entropy_coefficient > 0,
        bare=True,
    )
    chosen = _chosen(engine, units, spec)
    pool = _pool(batch, cuts, chosen)
    plan = replace(plan_for(engine.footprint(spec), len(chosen), spec, memory), lags=())
    found = reduce_pool(engine, pool, spec, plan)
    return BatchMeasurement(
        envs,
        steps,
        units,
        length,
        len(chosen),
        {
            name: describe_batch(
                products_of(found, spec, name, 0, 0),
                shares,
                rough=cuts > 1 or (loss.normalise and name != "critic"),
            )
            for name in OBJECTIVES
        },
        _warnings(batch, cuts, length, units, len(chosen)),
    )


def pieces(envs: int, steps: int) -> int:
    """Return into how many pieces each env's stream is cut: as few as give enough units.

    A piece of one step would show no covariance.
    """
    if envs >= _ENOUGH:
        return 1
    cuts = max(1, min(-(-_PIECES // envs), steps // _SHORTEST))
    if envs * cuts < _LEAST:
        raise UsageError(
            f"a batch of {envs} x {steps} holds nothing that is independent of the rest",
            where="batch",
            fix=f"train with more envs, best {_ENOUGH} or more, or with longer rollouts",
        )
    return cuts


def _chosen(engine: Engine, units: int, spec: GradientSpec) -> np.ndarray:
    """Choose the units to measure: all, or as many as are affordable, evenly spread."""
    row = engine.footprint(spec).row_bytes
    affordable = max(_LEAST, _MOST // (row * spec.measured))
    return np.unique(np.linspace(0, units - 1, min(units, affordable)).round().astype(int))


def _pool(batch: LiveBatch, cuts: int, chosen: np.ndarray) -> Pool:
    """Return the units as chains of a pool whose rewards are the advantages.

    With gamma 0 and a critic that says 0 a step's advantage is its reward, so the advantages go
    through as they are, cut nowhere.
    """
    observation, action, advantage = (_units(array, cuts)[:, chosen] for array in batch)
    nothing, never = np.zeros_like(advantage), np.zeros(advantage.shape, bool)
    return Pool(observation, action, advantage, nothing, nothing, nothing, never, never)


def _units(array: np.ndarray, cuts: int) -> np.ndarray:
    """Cut [T, N, ...] into [T / cuts, cuts * N, ...], pieces of the same time together."""
    length, (envs, *rest) = len(array) // cuts, array.shape[1:]
    cut = array[: cuts * length].reshape(cuts, length, envs, *rest).swapaxes(0, 1)
    return cut.reshape(length, cuts * envs, *rest)


def _warnings(
    batch: LiveBatch, cuts: int, length: int, units: int, measured: int
) -> tuple[str, ...]:
    found = []
    if cuts > 1:
        envs = batch.advantage.shape[1]
        found.append(
            f"few envs ({envs}) to compare: what they saw was cut into {units} pieces of {length} "
            "steps, and covariance over longer times is not seen"
        )
    if measured < units:
        found.append(f"the network is large: {measured} of {units} units were looked at")
    if not np.any(batch.advantage != batch.advantage.flat[0]):
        found.append("all advantages are equal: there is nothing to learn from this batch")
    return tuple(found)
