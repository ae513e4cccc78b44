"""One stage measured twice, and how far apart the two measurements are in standard errors."""

import math
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np
from jaxtyping import Float
from scipy import stats

from benchmarks.agreement.brute import OBJECTIVES, Found, Sums, blocks, estimates
from nbyt.envs import DeviceEnv, resolve
from nbyt.gradients.reduce import PoolSums
from nbyt.measure.frozen_policy import FrozenStage
from nbyt.measure.measurement import Measurement
from nbyt.measure.probe import collected_chains, probe
from nbyt.measure.request import Resources, make_request
from nbyt.policy.actor_critic import Stage
from nbyt.rng import numpy_stream
from nbyt.stats.estimate import LEVEL, Estimate
from nbyt.stats.variance import squared_length

BATCH = 2048
# Replicates in a block, by T: as many steps in short rollouts as in long ones would cost too much,
# and fewer would hold too few deaths.
SIZES = {2: 1024, 32: 256, 512: 64}
STEPS = tuple(SIZES)
# Blocks that only give the direction to look along.
ASIDE = 8
RANDOM_DIRECTIONS = 3


@dataclass(frozen=True)
class Row:
    """One number from both sides."""

    env: str
    steps: int
    gradient: str
    number: str
    probe: Found
    brute: Found

    @property
    def z(self) -> float:
        """The difference in standard errors of the difference."""
        gap = self.probe.value - self.brute.value
        return gap / math.hypot(self.probe.error, self.brute.error)

    def as_dict(self) -> dict[str, Any]:
        """Plain values."""
        pair = {"probe": self.probe._asdict(), "brute": self.brute._asdict()}
        return {**asdict(self), **pair, "z": self.z}


def compared(env_id: str, stage: Stage, *, count: int, chains: int, seed: int) -> list[Row]:
    """All numbers of both sides, by brute force from `count` blocks."""
    env = resolve(env_id)
    assert isinstance(env, DeviceEnv), "brute force runs on the device"
    asked = {"batch": BATCH, "steps": STEPS, "chains": chains, "advantages": "raw", "seed": seed}
    measured = probe(env, stage, **asked, phase=False)
    reduce_pool = _harvest(env, stage, **asked)
    rows = []
    for place, (steps, size) in enumerate(SIZES.items()):
        made = list(blocks(env, stage, steps, count=count + ASIDE, size=size, seed=seed))
        for name in OBJECTIVES:
            own = [block[name] for block in made]
            directions = _directions(own[:ASIDE], seed)
            vectors = reduce_pool.objectives[name].vectors[0, place, 0].astype(float)
            ours = _ours(measured, name, steps) | _along(vectors, directions)
            theirs = _theirs(own[ASIDE:], size, directions, BATCH // steps)
            rows += [Row(env_id, steps, name, key, ours[key], theirs[key]) for key in theirs]
    return rows


def _harvest(env: DeviceEnv, stage: Stage, **asked: Any) -> PoolSums:
    """The vectors of the chains that the probe measured: the same request, the same chains."""
    request = make_request(stage.facts, **asked)
    pooled = collected_chains(FrozenStage(env, stage), request, Resources(), request.chains)
    pooled.add()
    return pooled.sums


def _ours(measured: Measurement, name: str, steps: int) -> dict[str, Found]:
    own, lam = measured.layout(steps=steps).gradient(name), measured.request.lambdas[0]
    found = {key: getattr(own, key) for key in ("variance", "individual", "covariance")}
    found["|E G|²"] = squared_length(measured.products[name, steps, lam].means)
    return {key: _found(estimate) for key, estimate in found.items()}


def _along(
    vectors: Float[np.ndarray, "n P"], directions: dict[str, Float[np.ndarray, " P"]]
) -> dict[str, Found]:
    """The chains' mean gradient along each direction."""
    found = {}
    for name, direction in directions.items():
        values = vectors @ direction
        found[name] = Found(float(values.mean()), float(values.std(ddof=1) / len(values) ** 0.5))
    return found


def _theirs(
    made: list[Sums], size: int, directions: dict[str, Float[np.ndarray, " P"]], envs: int
) -> dict[str, Found]:
    found = estimates(made, size, np.array(list(directions.values())))
    parts = ("variance", "individual", "covariance")
    shared = {key: Found(*(x / envs for x in found[key][0])) for key in parts}
    along = dict(zip(directions, found["along"], strict=True))
    return {**shared, "|E G|²": found["|E G|²"][0], **along}


def _directions(aside: list[Sums], seed: int) -> dict[str, Float[np.ndarray, " P"]]:
    """The gradient's own direction by rollouts that neither side uses, and random ones."""
    own = np.sum([one.gradient for one in aside], axis=0)
    draws = numpy_stream(seed, "agreement.directions").normal(size=(RANDOM_DIRECTIONS, len(own)))
    named = {"E G along itself": own}
    named |= {f"E G along random {n + 1}": draw for n, draw in enumerate(draws)}
    return {name: way / np.linalg.norm(way) for name, way in named.items()}


def _found(estimate: Estimate) -> Found:
    """Half the interval over Student's quantile for the chains: what stands for an error."""
    assert estimate.value is not None and estimate.low is not None and estimate.high is not None
    quantile = float(stats.t.ppf(0.5 + LEVEL / 2, estimate.replicates - 1))
    return Found(estimate.value, (estimate.high - estimate.low) / 2 / quantile)
