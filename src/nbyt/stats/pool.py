"""All estimates of a pool of chains: layout by layout, by lag, of the critic and of the return."""

from dataclasses import dataclass, field
from typing import Any

import numpy as np
from jaxtyping import Float

from nbyt.stats.estimate import Estimate, undetermined
from nbyt.stats.intervals import leave_one_out, real
from nbyt.stats.lags import LagProducts, LagProfile, PhaseProducts, lag_profile, phase_variance
from nbyt.stats.products import Products
from nbyt.stats.ranking import Candidate, Ranking, rank
from nbyt.stats.summary import GradientEstimates, describe
from nbyt.stats.variance import bias_parts

OBJECTIVES = ("actor", "critic", "total")
ONE_UPDATE = "the synchronised pool holds one update of this length"

# By objective, T and lambda.
LayoutProducts = dict[tuple[str, int, float], Products]


@dataclass(frozen=True)
class PoolProducts:
    """All that the gradient engine hands over of a pool of chains.

    phase: by objective and T, of a pool of synchronised starts at the first lambda. critic: each
    chain's means of the return, its square, the critic's error, and its square. returns: each
    chain's reward and ended episodes per step.
    """

    steps: tuple[int, ...]
    lambdas: tuple[float, ...]
    layouts: LayoutProducts
    lags: dict[str, LagProducts]
    phase: dict[str, dict[int, PhaseProducts]]
    critic: Float[np.ndarray, "4 n"]
    returns: Float[np.ndarray, "2 n"]


@dataclass(frozen=True)
class LayoutMeasurement:
    """One layout N x T at one lambda: its three gradients, and the phase's part of each.

    phase: the variance that synchronised starts add and that more envs do not remove.
    bias_parts: the squared bias by origin, for fragments that begin at a reset.
    """

    envs: int
    steps: int
    lam: float
    actor: GradientEstimates
    critic: GradientEstimates
    total: GradientEstimates
    phase: dict[str, Estimate] = field(default_factory=dict)
    bias_parts: dict[str, dict[str, Estimate]] = field(default_factory=dict)

    def gradient(self, objective: str) -> GradientEstimates:
        return {"actor": self.actor, "critic": self.critic, "total": self.total}[objective]

    def as_dict(self) -> dict[str, Any]:
        data: dict[str, Any] = {"envs": self.envs, "steps": self.steps, "lambda": self.lam}
        for name in OBJECTIVES:
            data[name] = self.gradient(name).as_dict()
            if name in self.phase:
                data[name]["phase"] = self.phase[name].as_dict()
            for part, value in self.bias_parts.get(name, {}).items():
                data[name][f"bias_sq_{part}"] = value.as_dict()
        unknown = undetermined("a probe measures gradients, not time", 0)
        return {**data, "seconds": unknown.as_dict()}


@dataclass(frozen=True)
class PoolEstimates:
    """What a pool of chains says; rankings are by objective, as places in `layouts`."""

    layouts: tuple[LayoutMeasurement, ...]
    lags: dict[str, LagProfile]
    explained_variance: Estimate
    mean_return: Estimate
    rankings: dict[str, Ranking]


def describe_pool(
    pool: PoolProducts,
    batch: int,
    generators: dict[str, np.random.Generator],
    *,
    split_bias: bool = False,
) -> PoolEstimates:
    """Estimate everything that a pool of chains says of the layouts of one batch.

    generators: redraw the chains for each objective's ranking. split_bias: also estimate the parts
    of the bias of fragments that begin at a reset.
    """
    return PoolEstimates(
        tuple(
            _layout(pool, batch, steps, lam, phase=m == 0, split_bias=split_bias)
            for steps in pool.steps
            for m, lam in enumerate(pool.lambdas)
        ),
        {name: lag_profile(products) for name, products in pool.lags.items()},
        explained_variance(pool.critic),
        mean_return(pool.returns),
        {
            name: rank_layouts(pool.layouts, pool.steps, pool.lambdas, batch, name, generator)
            for name, generator in generators.items()
        },
    )


def rank_layouts(
    layouts: LayoutProducts,
    steps: tuple[int, ...],
    lambdas: tuple[float, ...],
    batch: int,
    objective: str,
    generator: np.random.Generator,
) -> Ranking:
    """Rank the layouts of a batch by one objective, all lambdas together."""
    candidates = [
        Candidate(layouts[objective, length, lam], batch // length)
        for length in steps
        for lam in lambdas
    ]
    return rank(candidates, generator)


def ranked_layouts(
    ranking: Ranking, layouts: tuple[LayoutMeasurement, ...]
) -> list[dict[str, Any]]:
    """Return layouts from the best to the worst, with what each would lose, as plain values."""
    return [
        {
            "envs": layouts[place].envs,
            "steps": layouts[place].steps,
            "lambda": layouts[place].lam,
            "rho": ranking.rho[place].as_dict(),
            "tied_with_best": place == ranking.order[0] or place in ranking.ties,
            "win_share": ranking.win_share[place],
            "regret": ranking.regret[place].as_dict(),
        }
        for place in ranking.order
    ]


def explained_variance(sums: Float[np.ndarray, "4 n"]) -> Estimate:
    """Estimate 1 - Var(return - value) / Var(return): 1 for a perfect critic, 0 for a constant."""
    chains = sums.shape[1]
    samples = leave_one_out(chains)
    target, target_square, error, error_square = (samples.mean(row[None]) for row in sums)
    spread = target_square - target**2
    if np.any(spread <= 1e-12 * np.maximum(target_square, 1e-300)):
        return undetermined("all returns are equal: there is nothing to explain", chains)
    return real(1 - (error_square - error**2) / spread, chains)


def mean_return(sums: Float[np.ndarray, "2 n"]) -> Estimate:
    """Estimate the mean return of an episode: reward per step over episodes per step.

    Whole episodes alone would favour short ones, as chains of so many steps hold more of them.
    """
    chains = sums.shape[1]
    samples = leave_one_out(chains)
    reward, ended = (samples.mean(row[None]) for row in sums)
    if np.any(ended <= 0):
        return undetermined("too few episodes end within the chains", chains)
    return real(reward / ended, chains)


def _layout(
    pool: PoolProducts, batch: int, steps: int, lam: float, *, phase: bool, split_bias: bool
) -> LayoutMeasurement:
    products = {name: pool.layouts[name, steps, lam] for name in OBJECTIVES}
    gradients = {name: describe(one, batch // steps) for name, one in products.items()}
    parts = {name: bias_parts(one) for name, one in products.items()} if split_bias else {}
    return LayoutMeasurement(
        batch // steps,
        steps,
        lam,
        **gradients,
        phase=_phase(pool.phase, steps) if phase else {},
        bias_parts={
            name: {"advantage": part.advantage, "phase": part.phase} for name, part in parts.items()
        },
    )


def _phase(phase: dict[str, dict[int, PhaseProducts]], steps: int) -> dict[str, Estimate]:
    alone = undetermined(ONE_UPDATE, 0)
    return {
        name: phase_variance(phase[name][steps]) if steps in phase[name] else alone
        for name in OBJECTIVES
        if phase
    }
