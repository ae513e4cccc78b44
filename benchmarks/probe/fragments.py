"""The sums of all fragments, at every T at once, in plain gradients of the same steps."""

from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

from benchmarks.agreement.stages import CARTPOLE, trained
from benchmarks.probe.costs import cost
from benchmarks.probe.norms import Timed
from benchmarks.timing.rounds import interleave
from nbyt.collect.pool import collect_pool
from nbyt.collect.segment import PoolPlan
from nbyt.envs import resolve
from nbyt.gradients.chains import Chains
from nbyt.gradients.reduce import slabs
from nbyt.gradients.slab_sums import Slab, sum_slab
from nbyt.gradients.spec import scale_of
from nbyt.measure.frozen_policy import FrozenStage
from nbyt.measure.probe import collected_chains
from nbyt.measure.request import Resources, make_request
from nbyt.policy.actor_critic import Stage

BATCH = 2048
MOST = 15.0


def fragments(*, rounds: int, seconds: float) -> list[dict[str, Any]]:
    """Cost of the fragment sums alone, and of everything that a probe takes from a slab."""
    stage = trained(CARTPOLE)
    chains, slab = _slab(stage)
    steps, lags = chains.spec.steps, chains.plan.lags
    policy, params = stage.policy, stage.params

    @jax.jit
    def sums(slab: Slab) -> Any:
        found = sum_slab(policy, params, slab, steps, lags)
        return {name: (one.vectors, one.square) for name, one in found.items()}

    size = slab.observation.shape[0] * slab.observation.shape[1]
    contenders = {
        "plain gradient": Timed(_plain(stage, slab), size),
        f"fragment sums, {len(steps)} T": Timed(lambda: _done(sums(slab)), size),
        "all that a probe takes": Timed(
            lambda: _done(sum_slab(policy, params, slab, steps, lags)), size
        ),
    }
    speeds = interleave(contenders, rounds=rounds, seconds=seconds)
    _, frag, everything = contenders
    return [
        cost("4-64-64-2 and -1", speeds, frag, "plain gradient", MOST),
        cost("4-64-64-2 and -1", speeds, everything, "plain gradient", None),
    ]


def _slab(stage: Stage) -> tuple[Chains, Slab]:
    """The first slab of a probe's pool, as it goes into the program."""
    request = make_request(stage.facts, batch=BATCH, advantages="raw", chains=8)
    env, ahead = resolve(CARTPOLE.env), request.ahead
    chains = collected_chains(FrozenStage(env, stage), request, Resources(), request.chains)
    plan = PoolPlan(request.chains, request.chain_steps + ahead, ahead, request.gamma, 0)
    pool = collect_pool(env, stage.policy, stage.params, plan)
    every = slice(0, pool.chains)
    return chains, next(slabs(pool, chains.spec, scale_of(pool, chains.spec), chains.plan, every))[
        1
    ]


def _plain(stage: Stage, slab: Slab) -> Any:
    """The gradient of actor and critic, summed over the slab's steps: what training computes."""
    policy, params = stage.policy, stage.params
    observation, action = (
        jnp.asarray(np.reshape(x, (-1, *x.shape[2:]))) for x in (slab.observation, slab.action)
    )
    weight = jnp.asarray(slab.whole["actor"]["actor"][0].reshape(-1))

    def gain(params: Any) -> jax.Array:
        chosen = policy.head.log_prob(policy.parameters(params, observation), action)
        return jnp.sum(weight * (chosen + policy.value(params, observation)))

    gradient = jax.jit(jax.grad(gain))
    return lambda: _done(gradient(params))


def _done(found: Any) -> Any:
    return jax.block_until_ready(found)
