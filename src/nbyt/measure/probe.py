"""nbyt.probe: a frozen stage and a batch in, a Measurement out."""

import time
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np

from nbyt.envs import resolve
from nbyt.gradients.reduce import endless_gram, products_of
from nbyt.gradients.spec import GradientSpec
from nbyt.measure.chains import (
    Chains,
    Progress,
    Resources,
    explained_variance,
    mean_return,
    remarks,
)
from nbyt.measure.frozen_policy import FrozenPolicy, FrozenStage
from nbyt.measure.measurement import OBJECTIVES, LayoutMeasurement, Measurement
from nbyt.measure.request import CHAINS, Request, Start, make_request
from nbyt.measure.sources import require_measured, sources_of
from nbyt.numbers import POSITIVE, SIZES, STEPS
from nbyt.policy.files import read_stage, require_env
from nbyt.policy.stage import Stage
from nbyt.rng import numpy_stream
from nbyt.stats.comparison import Candidate
from nbyt.stats.estimate import Estimate, undetermined
from nbyt.stats.lags import LagProducts, LagProfile, PhaseProducts, lag_profile, phase_variance
from nbyt.stats.products import Products
from nbyt.stats.ranking import Ranking, rank
from nbyt.stats.summary import describe
from nbyt.stats.variance import bias_parts

MAX_SAMPLES = 20_000_000

NO_PHASE = (
    "the part of the variance that synchronised starts add was not measured: whole chains of this "
    "network do not fit in memory"
)

ProductsBy = dict[tuple[str, int, float], Products]


def probe(
    env: Any,
    policy: Stage | Path | str,
    *,
    batch: int,
    steps: Any = None,
    gamma: float | None = None,
    lam: Any = None,
    chains: int = CHAINS,
    seed: int = 0,
    start: Start = "stationary",
    advantages: str | None = None,
    chain_steps: int | None = None,
    precision: float | None = None,
    max_samples: int = MAX_SAMPLES,
    phase: bool = True,
    sources: Any = (),
    resources: Resources | None = None,
    progress: Progress = lambda what, done, total: None,
) -> Measurement:
    """What every split of `batch` into envs x steps would do to a frozen policy's gradient.

    env: an id or an environment; policy: a stage, or the path of one. steps: the T to measure
    (default: the divisors of the batch). lam: one lambda or several. precision: keep adding
    chains until the alignment of the best layouts is known this well, relative to itself, or
    `max_samples` env steps are spent. sources: the T at which to trace the sources of noise.
    """
    found = resolve(env)
    stage = _stage(policy, found.id)
    request = make_request(
        stage.facts,
        batch=batch,
        steps=steps,
        gamma=gamma,
        lam=lam,
        chains=chains,
        chain_steps=chain_steps,
        advantages=advantages,
        start=start,
        seed=seed,
    )
    return examine(
        FrozenStage(found, stage),
        request,
        precision=precision,
        max_samples=max_samples,
        phase=phase,
        sources=sources,
        resources=resources,
        progress=progress,
    )


def examine(
    frozen_policy: FrozenPolicy,
    request: Request,
    *,
    precision: float | None = None,
    max_samples: int = MAX_SAMPLES,
    phase: bool = True,
    sources: Any = (),
    resources: Resources | None = None,
    progress: Progress = lambda what, done, total: None,
) -> Measurement:
    """The measurement that `request` asks for, of a policy in whatever framework."""
    sources = SIZES.check(sources, "sources")
    require_measured(request, sources)
    began = time.monotonic()
    rounds = _most_rounds(request, precision, max_samples)
    pooled = Chains(
        frozen_policy, request, resources or Resources(), rounds * request.chains, progress
    )
    measured, reached = _until_precise(pooled, precision, rounds)
    looked = phase and request.start == "stationary"
    found = pooled.phase() if looked else {}
    return _measurement(
        pooled,
        measured,
        phase=found,
        said=(NO_PHASE,) if looked and not found else (),
        sources=sources_of(frozen_policy, request, sources, pooled.found.scale, progress),
        precision={"asked": precision, "reached": reached, "rounds": pooled.rounds},
        seconds=time.monotonic() - began,
    )


def _stage(policy: Stage | Path | str, env_id: str) -> Stage:
    if isinstance(policy, Stage):
        if policy.facts.get("env", env_id) != env_id:
            require_env(policy, env_id, "policy")
        return policy
    stage = read_stage(Path(policy))
    require_env(stage, env_id, str(policy))
    return stage


def _most_rounds(request: Request, precision: float | None, max_samples: int) -> int:
    if precision is None:
        return 1
    POSITIVE.check(precision, "precision")
    STEPS.check(max_samples, "max_samples")
    return max(1, max_samples // (request.chains * (request.chain_steps + request.ahead)))


def _until_precise(
    pooled: Chains, precision: float | None, rounds: int
) -> tuple[ProductsBy, bool | None]:
    """Products of as many chains as the precision asks for, and whether it was reached."""
    while True:
        pooled.add()
        products = _products(pooled)
        if precision is None:
            return products, None
        if _precise(products, pooled.request, precision):
            return products, True
        if pooled.rounds >= rounds:
            return products, False


def _products(pooled: Chains) -> ProductsBy:
    found, settled, spec = pooled.found, pooled.settled, pooled.spec
    return {
        (objective, steps, lam): replace(
            products_of(found, spec, objective, k, m, settled),
            unit=_unit(objective, spec, float(found.scale.spread[k, m])),
        )
        for objective in OBJECTIVES
        for k, steps in enumerate(spec.steps)
        for m, lam in enumerate(spec.lambdas)
    }


def _unit(objective: str, spec: GradientSpec, spread: float) -> float | None:
    """What the reference is divided by at one T: normalising reaches the actor's part only."""
    if not spec.normalise or objective == "critic":
        return 1.0
    return spread if objective == "actor" else None


def _precise(products: ProductsBy, request: Request, precision: float) -> bool:
    """Whether the actor's best layout and its ties are known to the relative precision."""
    ranking = _ranking(products, request, "actor")
    places = [(steps, lam) for steps in request.steps for lam in request.lambdas]
    for place in (ranking.order[0], *ranking.ties):
        steps, lam = places[place]
        one = describe(products["actor", steps, lam], request.batch // steps).alignment
        if one.value is None or one.low is None or one.high is None:
            return False
        if one.high - one.low > 2 * precision * abs(one.value):
            return False
    return True


def _ranking(products: ProductsBy, request: Request, objective: str) -> Ranking:
    candidates = [
        Candidate(products[objective, steps, lam], request.batch // steps)
        for steps in request.steps
        for lam in request.lambdas
    ]
    return rank(candidates, numpy_stream(request.seed, f"rank.{objective}"))


def _measurement(
    pooled: Chains,
    products: ProductsBy,
    *,
    phase: dict[str, dict[tuple[int, int], PhaseProducts]],
    said: tuple[str, ...],
    sources: dict[str, Any],
    precision: dict[str, Any],
    seconds: float,
) -> Measurement:
    request, plan = pooled.request, pooled.plan
    lags = _lags(pooled)
    chains = pooled.rounds * request.chains
    return Measurement(
        env=pooled.frozen_policy.id,
        request=request,
        chains=chains,
        layouts=tuple(
            _layout(products, request, steps, lam, _phase_at(phase, k, m, request))
            for k, steps in enumerate(request.steps)
            for m, lam in enumerate(request.lambdas)
        ),
        explained_variance=explained_variance(pooled.critic),
        mean_return=mean_return(pooled.returns),
        rankings={name: _ranking(products, request, name) for name in OBJECTIVES},
        lags=lags,
        sources=sources,
        precision=precision,
        engine={
            "gradients": "sketched" if plan.places else "exact",
            "sketch_places": plan.places,
            "chains_at_once": plan.chains,
            "steps_at_once": plan.steps,
            "total": "joint" if pooled.spec.joined else "actor and critic side by side",
            "wall_seconds": seconds,
        },
        warnings=(*remarks(request, chains, products, lags, pooled.limit_weight), *said),
        products=products,
        scale=pooled.found.scale,
    )


def _layout(
    products: ProductsBy, request: Request, steps: int, lam: float, phase: dict[str, Estimate]
) -> LayoutMeasurement:
    envs = request.batch // steps
    own = {name: products[name, steps, lam] for name in OBJECTIVES}
    parts = {}
    if request.start == "reset":
        parts = {name: bias_parts(one) for name, one in own.items()}
    return LayoutMeasurement(
        envs,
        steps,
        lam,
        describe(own["actor"], envs),
        describe(own["critic"], envs),
        describe(own["total"], envs),
        phase=phase,
        bias_parts={
            name: {"advantage": part.advantage, "phase": part.phase} for name, part in parts.items()
        },
    )


def _phase_at(
    phase: dict[str, dict[tuple[int, int], PhaseProducts]], k: int, m: int, request: Request
) -> dict[str, Estimate]:
    """The phase's variance of each objective at one T; it is measured at the first lambda."""
    if not phase or m > 0:
        return {}
    alone = undetermined("the synchronised pool holds one update of this length", 0)
    found = {
        name: phase_variance(own[k, 0]) if (k, 0) in own else alone for name, own in phase.items()
    }
    if "total" not in found and alone not in found.values():
        found["total"] = _side_by_side(phase, k, request.value_coefficient)
    return {name: found.get(name, alone) for name in OBJECTIVES}


def _side_by_side(
    phase: dict[str, dict[tuple[int, int], PhaseProducts]], k: int, coefficient: float
) -> Estimate:
    actor, critic = phase["actor"][k, 0], phase["critic"][k, 0]
    return phase_variance(
        PhaseProducts(
            actor.pairs + coefficient**2 * critic.pairs,
            actor.overall + coefficient**2 * critic.overall,
        )
    )


def _lags(pooled: Chains) -> dict[str, LagProfile]:
    """Correlations of contributions whose advantages are never cut."""
    found = pooled.found
    return {
        name: lag_profile(
            LagProducts(
                np.array(found.lags, int),
                own.lags,
                own.endless_square,
                endless_gram(own),
                own.endless_pairs,
                found.partners,
            )
        )
        for name, own in found.objectives.items()
    }
