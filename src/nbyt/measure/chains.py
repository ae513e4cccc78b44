"""The chains of a frozen policy: collected round by round, and kept as sums only."""

from collections.abc import Callable
from dataclasses import dataclass, field, replace
from functools import partial
from typing import Annotated

import numpy as np

from nbyt.collect.pool import Pool
from nbyt.collect.segment import PoolPlan
from nbyt.gradients.engine import PoolSums, reduce_pool
from nbyt.gradients.phase import phase_products
from nbyt.gradients.plan import SlabPlan, plan_for
from nbyt.gradients.units import MOST, Units
from nbyt.gradients.weights import AdvantageScale, GradientSpec, scale_of
from nbyt.measure.critic import critic_sums
from nbyt.measure.frozen_policy import FrozenPolicy
from nbyt.measure.remarks import limit_weight
from nbyt.measure.request import Request
from nbyt.measure.returns import return_sums
from nbyt.numbers import MEMORY, Size, check_fields
from nbyt.stats.phase import PhaseProducts

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
