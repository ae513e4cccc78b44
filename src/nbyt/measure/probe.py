"""nbyt.probe: measure what every layout of a batch does to a frozen policy's gradient."""

import time
from math import prod
from pathlib import Path
from typing import Any

import jax
import numpy as np

from nbyt.collect import Progress
from nbyt.collect.segment import PoolPlan
from nbyt.envs import resolve
from nbyt.envs.protocol import DeviceEnv, HostEnv
from nbyt.gradients.chains import MOST, Chains
from nbyt.gradients.engines.own import StageEngine, program_bytes
from nbyt.gradients.spec import GradientSpec, plan_for, vector_bytes, written_bytes
from nbyt.measure.frozen_policy import FrozenPolicy, FrozenStage
from nbyt.measure.measurement import Measurement
from nbyt.measure.request import CHAINS, Request, Resources, Start, make_request
from nbyt.measure.sources import require_measured, sources_of
from nbyt.numbers import POSITIVE, SIZES, STEPS
from nbyt.policy.actor_critic import Stage
from nbyt.policy.files import read_stage, require_env
from nbyt.rng import numpy_stream
from nbyt.stats.intervals import DEPENDABLE
from nbyt.stats.lags import LagProfile
from nbyt.stats.pool import OBJECTIVES, LayoutProducts, describe_pool, rank_layouts
from nbyt.stats.summary import describe
from nbyt.system import resident_bytes

MAX_SAMPLES = 20_000_000

NO_PHASE = (
    "the part of the variance that synchronised starts add was not measured: whole chains of this "
    "network do not fit in memory"
)
# The compiler's own, and the programs that collect: measured.
_COMPILING = 250 * 2**20
# A block's vectors as the program gives them, as their sums, and on the way to a sketch.
_BLOCK = 3


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
    """Measure what every split of `batch` into envs x steps does to a frozen policy's gradient.

    Parameters
    ----------
    env
        An id such as "CartPole-v1", or an environment.
    policy
        A stage, or the path of one.
    batch
        Samples of a batch, N x T.
    steps
        The T to measure; default: the divisors of the batch.
    gamma, lam, advantages
        As the stage was trained unless given; several lambdas are measured on the same chains.
        advantages: "raw" or "normalised".
    chains, chain_steps
        Independent chains of the policy, and the measured steps of each.
    seed
        Of all randomness.
    start
        "stationary" for envs at random phases of their episodes, "reset" for all at a reset.
    precision, max_samples
        Keep adding chains until the alignment of the best layouts is known this well, relative to
        itself, or so many env steps are spent.
    phase
        Whether to measure what synchronised starts add.
    sources
        The T at which to trace the sources of noise.
    resources
        Memory, and host envs at once.
    progress
        Called with what is under way, how much of it is done, and how much there is.

    Returns
    -------
    Measurement

    Examples
    --------
    >>> import nbyt
    >>> control = nbyt.exact.sticky()
    >>> measured = nbyt.probe(
    ...     control.env, control.stage, batch=64, steps=[4, 32], chains=16, chain_steps=64
    ... )
    >>> print(str(measured).splitlines()[0])
    tabular:sticky-0.02: batch 64, 16 chains, gradient of the actor
    >>> measured.layout(steps=32).actor.variance.value > 0
    True
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
    """Measure what `request` asks for, of a policy in any framework; arguments as of `probe`."""
    sources = SIZES.check(sources, "sources")
    require_measured(request, sources)
    began = time.monotonic()
    rounds = _most_rounds(request, precision, max_samples)
    chains = collected_chains(
        frozen_policy, request, resources or Resources(), rounds * request.chains, progress
    )
    chains.add()
    reached = None if precision is None else _until_precise(chains, request, precision, rounds)
    synchronised = phase and request.start == "stationary"
    products = chains.products(phase=synchronised)
    estimates = describe_pool(
        products,
        request.batch,
        {name: numpy_stream(request.seed, f"rank.{name}") for name in OBJECTIVES},
        split_bias=request.start == "reset",
    )
    count, scale = chains.rounds * request.chains, chains.sums.scale
    notes = remarks(request, count, products.layouts, estimates.lags, chains.limit_weight)
    return Measurement(
        env=frozen_policy.id,
        request=request,
        chains=count,
        layouts=estimates.layouts,
        explained_variance=estimates.explained_variance,
        mean_return=estimates.mean_return,
        rankings=estimates.rankings,
        lags=estimates.lags,
        sources=sources_of(frozen_policy, request, sources, scale, progress),
        precision={"asked": precision, "reached": reached, "rounds": chains.rounds},
        engine=_engine(chains, time.monotonic() - began),
        warnings=(*notes, NO_PHASE) if synchronised and not products.phase else notes,
        products=products.layouts,
        scale=scale,
    )


def collected_chains(
    frozen_policy: FrozenPolicy,
    request: Request,
    resources: Resources,
    most: int,
    progress: Progress = lambda what, done, total: None,
) -> Chains:
    """Prepare to collect the chains that a request asks for, at most so many of them."""
    engine, reward_unit = frozen_policy.engine, frozen_policy.reward_unit
    passes_time_limits = frozen_policy.passes_time_limits
    spec = GradientSpec(
        request.steps,
        request.lambdas,
        request.chain_steps,
        request.gamma,
        request.normalise,
        request.value_coefficient,
        request.entropy_coefficient,
        joined=engine.shared or request.entropy_coefficient > 0,
        first_only=request.start == "reset",
    )
    pool = PoolPlan(
        request.chains,
        request.chain_steps + request.ahead,
        request.ahead,
        request.gamma,
        request.seed,
        reward_scale=frozen_policy.facts.get("reward_scale"),
        envs=resources.envs,
        vector=resources.vector,
    )
    return Chains(
        engine,
        frozen_policy.collect,
        pool,
        spec,
        plan_for(engine.footprint(spec), min(most, MOST), spec, resources.memory, request.seed),
        progress,
        reward_unit,
        passes_time_limits,
    )


def cost_of(
    env: DeviceEnv | HostEnv, stage: Stage, request: Request, memory: int
) -> dict[str, int]:
    """Estimate the samples of the pool, and bytes: of pool, vectors, program, and at most."""
    process = resident_bytes()
    frozen_policy = FrozenStage(env, stage)
    chains = collected_chains(frozen_policy, request, Resources(memory), request.chains)
    engine = frozen_policy.engine
    assert isinstance(engine, StageEngine), "stages have an engine of their own"
    spec, plan, foot = chains.spec, chains.plan, engine.footprint(chains.spec)
    samples = request.chains * (request.chain_steps + request.ahead)
    seen = np.dtype(env.observation_space.dtype).itemsize * prod(env.observation_space.shape or ())
    pool = samples * (seen + 4 * 6 + 2)
    units = min(request.chains, MOST)
    # Of all chains at once, block by block and joined; further chains are added to those.
    copies = 2 if units == request.chains else 3
    vectors = copies * vector_bytes(foot, units, spec, plan)
    vectors += _BLOCK * written_bytes(foot, plan.chains, spec)
    program = program_bytes(engine, spec, plan)
    return {
        "samples": samples,
        "process_bytes": process + _COMPILING,
        "pool_bytes": pool,
        "vector_bytes": vectors,
        "program_bytes": program,
        "bytes": process + _COMPILING + pool + vectors + program,
        "devices": jax.device_count(),
    }


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


def _until_precise(chains: Chains, request: Request, precision: float, rounds: int) -> bool:
    while not _is_precise(chains.layout_products(), request, precision):
        if chains.rounds >= rounds:
            return False
        chains.add()
    return True


def _is_precise(products: LayoutProducts, request: Request, precision: float) -> bool:
    """Return whether the alignment of the actor's best layout and its ties is known well enough."""
    generator = numpy_stream(request.seed, "rank.actor")
    steps, lambdas = request.steps, request.lambdas
    ranking = rank_layouts(products, steps, lambdas, request.batch, "actor", generator)
    places = [(length, lam) for length in steps for lam in lambdas]
    for place in (ranking.order[0], *ranking.ties):
        length, lam = places[place]
        alignment = describe(products["actor", length, lam], request.batch // length).alignment
        if alignment.value is None or alignment.low is None or alignment.high is None:
            return False
        if alignment.high - alignment.low > 2 * precision * abs(alignment.value):
            return False
    return True


def _engine(chains: Chains, seconds: float) -> dict[str, Any]:
    plan = chains.plan
    return {
        "gradients": "sketched" if plan.places else "exact",
        "sketch_places": plan.places,
        "chains_at_once": plan.chains,
        "steps_at_once": plan.steps,
        "total": "joint" if chains.spec.joined else "actor and critic side by side",
        "wall_seconds": seconds,
    }


def remarks(
    request: Request,
    chains: int,
    products: LayoutProducts,
    lags: dict[str, LagProfile],
    limit_weight: float,
) -> tuple[str, ...]:
    notes = []
    if chains < DEPENDABLE:
        notes.append(
            f"{chains} chains: intervals are approximate; from {DEPENDABLE} chains on they are not"
        )
    left = request.gamma**request.ahead
    if left > 0.0101:
        notes.append(
            f"the reference looks {request.ahead} steps ahead, where a reward still counts for "
            f"{left:.0%}: beyond that it relies on the critic"
        )
    if limit_weight > 0.001:
        notes.append(
            "this env cannot go on past its time limit: there the reference uses the critic, with "
            f"a mean weight of {limit_weight:.2f}"
        )
    notes += [
        f"the chains are not independent in the {name}'s gradient (correlation at the same time "
        f"{profile.across}): do the envs share a seed?"
        for name, profile in lags.items()
        if not profile.independent
    ]
    actor = next(p for (name, _, _), p in products.items() if name == "actor")
    if not actor.step_square.any():
        notes.append(
            "the actor's gradient is zero in every step: the policy has collapsed to one action, "
            "or all advantages are equal"
        )
    return tuple(notes)
