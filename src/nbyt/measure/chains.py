"""The chains of a frozen policy: collected round by round, and kept as sums only."""

from collections.abc import Callable
from dataclasses import dataclass, field, replace
from functools import partial
from math import prod
from typing import Annotated

import jax
import numpy as np
from jaxtyping import Float

from nbyt.collect.pool import Pool
from nbyt.collect.segment import PoolPlan
from nbyt.envs.protocol import DeviceEnv, HostEnv
from nbyt.gradients.engines.own import program_bytes
from nbyt.gradients.reduce import MOST, PoolSums, Units, phase_products, reduce_pool
from nbyt.gradients.spec import (
    AdvantageScale,
    GradientSpec,
    SlabPlan,
    plan_for,
    reference_advantages,
    scale_of,
    vector_bytes,
    written_bytes,
)
from nbyt.measure.frozen_policy import FrozenPolicy, FrozenStage
from nbyt.measure.request import Request
from nbyt.numbers import MEMORY, Size, check_fields
from nbyt.policy.stage import Stage
from nbyt.stats.estimate import Estimate, undetermined
from nbyt.stats.intervals import DEPENDABLE, leave_one_out, real
from nbyt.stats.lags import LagProfile, PhaseProducts
from nbyt.stats.products import Products
from nbyt.system import resident_bytes


def limit_weight(pool: Pool, gamma: float) -> float:
    """Mean weight gamma^k of the critic's value at time limits, k steps ahead, in the reference."""
    weight, later = np.zeros(pool.chains), []
    for truncated, terminated in zip(pool.truncated[::-1], pool.terminated[::-1], strict=True):
        weight = np.where(truncated, 1.0, np.where(terminated, 0.0, weight)) * gamma
        later.append(weight)
    return float(np.mean(later))


def remarks(
    request: Request,
    chains: int,
    products: dict[tuple[str, int, float], Products],
    lags: dict[str, LagProfile],
    limit_weight: float,
) -> tuple[str, ...]:
    """Sentences to show beside the numbers."""
    found = []
    if chains < DEPENDABLE:
        found.append(
            f"{chains} chains: intervals are approximate; from {DEPENDABLE} chains on they are not"
        )
    left = request.gamma**request.ahead
    if left > 0.0101:
        found.append(
            f"the reference looks {request.ahead} steps ahead, where a reward still counts for "
            f"{left:.0%}: beyond that it relies on the critic"
        )
    if limit_weight > 0.001:
        found.append(
            "this env cannot go on past its time limit: there the reference uses the critic, with "
            f"a mean weight of {limit_weight:.2f}"
        )
    found += [
        f"the chains are not independent in the {name}'s gradient (correlation at the same time "
        f"{profile.across}): do the envs share a seed?"
        for name, profile in lags.items()
        if not profile.independent
    ]
    actor = next(p for (name, _, _), p in products.items() if name == "actor")
    if not actor.step_square.any():
        found.append(
            "the actor's gradient is zero in every step: the policy has collapsed to one action, "
            "or all advantages are equal"
        )
    return tuple(found)


def critic_sums(pool: Pool, gamma: float, measured: int) -> Float[np.ndarray, "4 n"]:
    """Each chain's means of return, its square, the critic's error, and its square."""
    error = reference_advantages(pool, gamma)[:measured]
    target = error + pool.value[:measured]
    return np.stack([x.mean(axis=0) for x in (target, target**2, error, error**2)])


def explained_variance(sums: Float[np.ndarray, "4 n"]) -> Estimate:
    """1 - Var(return - value) / Var(return): 1 for a perfect critic, 0 for a constant one."""
    chains = sums.shape[1]
    samples = leave_one_out(chains)
    target, target_square, error, error_square = (samples.mean(row[None]) for row in sums)
    spread = target_square - target**2
    if np.any(spread <= 1e-12 * np.maximum(target_square, 1e-300)):
        return undetermined("all returns are equal: there is nothing to explain", chains)
    return real(1 - (error_square - error**2) / spread, chains)


def return_sums(pool: Pool, reward_unit: float) -> Float[np.ndarray, "2 n"]:
    """Each chain's reward and ended episodes per step, in the env's own rewards."""
    ended = pool.terminated | pool.truncated
    return np.stack([pool.reward.mean(axis=0) * reward_unit, ended.mean(axis=0)])


def mean_return(sums: Float[np.ndarray, "2 n"]) -> Estimate:
    """Reward per step over episodes per step: no episode is cut short, nor is a short one favoured.

    Whole episodes alone would favour short ones, as chains of so many steps hold more of them.
    """
    chains = sums.shape[1]
    samples = leave_one_out(chains)
    reward, ended = (samples.mean(row[None]) for row in sums)
    if np.any(ended <= 0):
        return undetermined("too few episodes end within the chains", chains)
    return real(reward / ended, chains)


# What is under way, how much of it is done, and how much there is.
Progress = Callable[[str, int, int], None]

_PHASE_CHAINS = 64


@dataclass(frozen=True)
class Resources:
    """What a measurement may use: memory in bytes, host envs at once, and how they run."""

    memory: Annotated[int, MEMORY] = 2**30
    envs: Size = 64
    vector: str = "sync"

    def __post_init__(self) -> None:
        check_fields(self)


@dataclass
class Chains:
    """The chains of one frozen policy so far.

    found: their sums; with starts at a reset, `settled` is that of as many chains at random
    phases, which give the reference. critic, returns: sums for the critic's quality, and for the
    mean return.
    """

    frozen_policy: FrozenPolicy
    request: Request
    resources: Resources
    most: int
    progress: Progress
    rounds: int = 0
    limit_weight: float = 0.0
    _scale: AdvantageScale | None = None
    _found: Units = field(default_factory=Units)
    _settled: Units = field(default_factory=Units)
    _critic: list[np.ndarray] = field(default_factory=list)
    _returns: list[np.ndarray] = field(default_factory=list)

    @property
    def spec(self) -> GradientSpec:
        """What is asked of the chains."""
        request = self.request
        return GradientSpec(
            request.steps,
            request.lambdas,
            request.chain_steps,
            request.gamma,
            request.normalise,
            request.value_coefficient,
            request.entropy_coefficient,
            joined=self.frozen_policy.engine.shared or request.entropy_coefficient > 0,
            first_only=request.start == "reset",
        )

    @property
    def plan(self) -> SlabPlan:
        """How the chains are cut to fit in memory."""
        foot = self.frozen_policy.engine.footprint(self.spec)
        chains = min(self.most, MOST)
        return plan_for(foot, chains, self.spec, self.resources.memory, self.request.seed)

    @property
    def found(self) -> PoolSums:
        """Return the sums of all chains so far."""
        return self._found.sums

    @property
    def settled(self) -> PoolSums | None:
        """That of the chains at random phases, where the others began at a reset."""
        return self._settled.sums if self._settled.chains else None

    @property
    def critic(self) -> np.ndarray:
        """Sums of all chains for the critic's quality."""
        return np.concatenate(self._critic, axis=1)

    @property
    def returns(self) -> np.ndarray:
        """Sums of all chains for the mean return."""
        return np.concatenate(self._returns, axis=1)

    def add(self) -> None:
        """Collect and reduce another round of chains."""
        spec = self.spec
        pool = self._collect(synchronised=spec.first_only)
        self._scale = self._scale or scale_of(pool, spec)
        self._gather(self._found, pool, spec, self._scale)
        if spec.first_only:
            pool = self._collect(synchronised=False)
            own = replace(spec, steps=(1,), first_only=False)
            self._gather(self._settled, pool, own, scale_of(pool, own))
        self._critic.append(critic_sums(pool, spec.gamma, spec.measured))
        self._returns.append(return_sums(pool, self.frozen_policy.reward_unit))
        if not self.frozen_policy.passes_time_limits:
            self.limit_weight = limit_weight(pool, spec.gamma)
        self.rounds += 1

    def phase(self) -> dict[str, dict[tuple[int, int], PhaseProducts]]:
        """Products of a synchronised pool's chains at the same update; none if memory is short."""
        spec = replace(self.spec, first_only=False, lambdas=self.spec.lambdas[:1])
        plan = self.plan
        if plan.steps < spec.measured:
            return {}
        pool = self._collect(synchronised=True, chains=_PHASE_CHAINS, ahead=0, what="phase chains")
        scale = self.found.scale
        own = scale._replace(mean=scale.mean[:, :1], spread=scale.spread[:, :1])
        done = partial(self._say, "phase gradients", 0, pool.chains)
        found = self._reduce(pool, spec, own, done)
        return phase_products(self.frozen_policy.engine, pool, found, spec, plan)

    def _collect(
        self,
        *,
        synchronised: bool,
        chains: int | None = None,
        ahead: int | None = None,
        what: str = "chains",
    ) -> Pool:
        request = self.request
        ahead = request.ahead if ahead is None else ahead
        plan = PoolPlan(
            chains or request.chains,
            request.chain_steps + ahead,
            ahead,
            request.gamma,
            request.seed,
            synchronised,
            self.frozen_policy.facts.get("reward_scale"),
            self.resources.envs,
            self.resources.vector,
            self.rounds,
        )
        return self.frozen_policy.collect(
            plan, lambda done, total: self.progress(what, done, total)
        )

    def _gather(self, units: Units, pool: Pool, spec: GradientSpec, scale: AdvantageScale) -> None:
        """Reduce a pool, no more chains at a time than there are units."""
        for first in range(0, pool.chains, MOST):
            some = Pool(*(array[:, first : first + MOST] for array in pool))
            done = partial(self._say, "gradients", first, pool.chains)
            units.add(self._reduce(some, spec, scale, done))

    def _reduce(
        self,
        pool: Pool,
        spec: GradientSpec,
        scale: AdvantageScale,
        progress: Callable[[int, int], None],
    ) -> PoolSums:
        return reduce_pool(self.frozen_policy.engine, pool, spec, self.plan, scale, progress)

    def _say(self, what: str, before: int, total: int, done: int, _part: int) -> None:
        self.progress(what, before + done, total)


# The compiler's own, and the programs that collect: measured.
_COMPILING = 250 * 2**20
# A block's vectors as the program gives them, as their sums, and on the way to a sketch.
_BLOCK = 3


def cost_of(
    env: DeviceEnv | HostEnv, stage: Stage, request: Request, memory: int
) -> dict[str, int]:
    """Samples of the pool, and bytes: of the pool, the units' vectors, the program, and at most."""
    process = resident_bytes()
    frozen_policy = FrozenStage(env, stage)
    chains = Chains(frozen_policy, request, Resources(memory), request.chains, lambda *_: None)
    spec, plan, foot = chains.spec, chains.plan, frozen_policy.engine.footprint(chains.spec)
    samples = request.chains * (request.chain_steps + request.ahead)
    seen = np.dtype(env.observation_space.dtype).itemsize * prod(env.observation_space.shape or ())
    pool = samples * (seen + 4 * 6 + 2)
    units = min(request.chains, MOST)
    # Of all chains at once, block by block and joined; further chains are added to those.
    copies = 2 if units == request.chains else 3
    vectors = copies * vector_bytes(foot, units, spec, plan)
    vectors += _BLOCK * written_bytes(foot, plan.chains, spec)
    program = program_bytes(frozen_policy.engine, spec, plan)
    return {
        "samples": samples,
        "process_bytes": process + _COMPILING,
        "pool_bytes": pool,
        "vector_bytes": vectors,
        "program_bytes": program,
        "bytes": process + _COMPILING + pool + vectors + program,
        "devices": jax.device_count(),
    }
