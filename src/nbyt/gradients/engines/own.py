"""The engine of nbyt's own policies: compiled programs over their layers' inputs and signals."""

from dataclasses import dataclass
from functools import partial
from typing import Any

import jax
import jax.numpy as jnp
from jax.flatten_util import ravel_pytree
from jaxtyping import Array, Float

from nbyt.gradients import products
from nbyt.gradients.engines import JaxEngine, Programs
from nbyt.gradients.products import PARTS, Layer, layers
from nbyt.gradients.slab_sums import Lengths, Slab, Weights, sum_slab
from nbyt.gradients.spec import Footprint, GradientSpec, SlabPlan, objective_parts
from nbyt.policy.actor_critic import ActorCritic, Params

# Numbers that the compiled program keeps for each number of a row's layers: measured.
COPIES = 11
BYTES = 4


@dataclass(frozen=True)
class StageEngine(JaxEngine):
    """Gradients of an actor-critic with its parameters."""

    policy: ActorCritic
    params: Params

    @property
    def shared(self) -> bool:
        return self.policy.shared

    def footprint(self, spec: GradientSpec) -> Footprint:
        row = one_row(self.policy, self.params)
        shapes = jax.eval_shape(lambda o, a: layers(self.policy, self.params, o, a, PARTS), *row)
        numbers = sum(leaf.size for leaf in jax.tree.leaves(shapes))
        size = sum(leaf.size for leaf in jax.tree.leaves(_trained(self.params)))
        # Each objective reaches a shared torso; without one, actor and critic are the total's
        # halves.
        copies = 3 if self.params.torso else 2 if spec.joined else 1
        return Footprint(numbers * COPIES * BYTES, copies * size)

    @property
    def programs(self) -> Programs:
        return Programs(self.policy, self.params, sum_slab, _batch_norm_sq, _gradient, _along)


def one_row(policy: ActorCritic, params: Params) -> tuple[jax.Array, jax.Array]:
    """Return an observation and an action of the policy's kind."""
    index = policy.kind == "index"
    shape, kind = (() if index else policy.shape), (jnp.int32 if index else jnp.float32)
    observation = jnp.zeros((1, *shape), kind)
    noise = policy.head.noise(jax.random.key(0), (1,))
    return observation, policy.head.sample(policy.parameters(params, observation), noise)


def program_bytes(engine: StageEngine, spec: GradientSpec, plan: SlabPlan) -> int:
    """Return memory of the compiled program with its arguments and results."""
    rows = (plan.chains, plan.steps)
    observation, action = (
        jax.ShapeDtypeStruct((*rows, *x.shape[1:]), x.dtype)
        for x in one_row(engine.policy, engine.params)
    )
    sets = len(spec.lambdas) + (2 if spec.first_only else 0)
    names = objective_parts(spec)
    fragment, whole = (
        {
            name: {part: jax.ShapeDtypeStruct((*shape, *rows), jnp.float32) for part in parts}
            for name, parts in names.items()
        }
        for shape in ((len(spec.steps), sets), (3,))
    )
    slab: Any = Slab(observation, action, fragment, whole)  # type: ignore[arg-type]
    program = sum_slab.lower(engine.policy, engine.params, slab, spec.steps, plan.lags).compile()
    needs: Any = program.memory_analysis()
    return int(needs.temp_size_in_bytes + needs.argument_size_in_bytes + needs.output_size_in_bytes)


def _trained(params: Params) -> tuple[Any, Any, Any]:
    return params.actor, params.critic, params.torso


@partial(jax.jit, static_argnames=("policy", "steps"))
def _batch_norm_sq(
    policy: ActorCritic, params: Params, slab: Slab, steps: Lengths
) -> dict[str, Float[Array, "K M"]]:
    time_first = jax.tree.map(lambda x: x.swapaxes(0, 1), (slab.observation, slab.action))
    flat = jax.tree.map(lambda x: x.reshape(-1, *x.shape[2:]), time_first)
    rows = layers(policy, params, flat[0], flat[1], slab.parts)
    return batch_norm_sq_layers(rows, slab.fragment, steps)


@partial(jax.jit, static_argnames="steps")
def batch_norm_sq_layers(
    rows: list[Layer], fragment: Weights, steps: Lengths
) -> dict[str, Float[Array, "K M"]]:
    """Return the squared norms of whole batches, from the layers of a slab's steps."""
    return {
        name: jnp.stack(
            [
                _fragment_norm_sq(
                    products.touched(rows, tuple(parts)),
                    {part: w[place] for part, w in parts.items()},
                    length,
                )
                for place, length in enumerate(steps)
            ]
        )
        for name, parts in fragment.items()
    }


def _fragment_norm_sq(
    rows: list[Layer], weights: dict[str, Float[Array, "M c t"]], length: int
) -> Float[Array, " M"]:
    chains, time = next(iter(weights.values())).shape[1:]
    updates = time // length
    count = updates * length * chains
    folded = products.grouped(jax.tree.map(lambda x: x[:count], rows), updates)

    def one(weights: dict[str, Float[Array, "c t"]]) -> Float[Array, ""]:
        own = {part: w.T.reshape(-1)[:count].reshape(updates, -1) for part, w in weights.items()}
        return jnp.sum(products.group_sums(folded, own) ** 2)

    return jax.lax.map(one, weights)


@partial(jax.jit, static_argnames="policy")
def _gradient(
    policy: ActorCritic, params: Params, observation: Any, action: Any, weights: Any
) -> Float[Array, " P"]:
    def total(trained: Any) -> jax.Array:
        found = _outputs(policy, params, trained, observation, action)
        return jnp.sum(jnp.stack([weights[part] * found[part] for part in weights]))

    return ravel_pytree(jax.grad(total)(_trained(params)))[0]


@partial(jax.jit, static_argnames="policy")
def _along(
    policy: ActorCritic, params: Params, observation: Any, action: Any, direction: jax.Array
) -> Float[Array, " R"]:
    trained = _trained(params)
    moved = ravel_pytree(trained)[1](direction)

    def score(trained: Any) -> jax.Array:
        return _outputs(policy, params, trained, observation, action)["actor"]

    return jax.jvp(score, (trained,), (moved,))[1]


def _outputs(
    policy: ActorCritic, params: Params, trained: Any, observation: Any, action: Any
) -> dict[str, jax.Array]:
    actor, critic, torso = trained
    own = params._replace(actor=actor, critic=critic, torso=torso)
    seen = jnp.asarray(observation)
    parameters = policy.parameters(own, seen)
    return {
        "actor": policy.head.log_prob(parameters, jnp.asarray(action)),
        "critic": policy.value(own, seen),
        "entropy": policy.head.entropy(parameters),
    }
