"""Rollouts on the device, and resampled futures of every step of them.

The simulator's state at a step is copied and the future drawn anew, up to the rollout's end. A
copy with h steps to go shares a lane with one that has T + 1 - h: all lanes are equally long, and
one scan moves them all.
"""

from collections.abc import Iterator
from functools import partial
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
from jaxtyping import Array, Bool, Float, Int, Shaped

from nbyt.collect.device import (
    Row,
    Runner,
    advance,
    as_rollout,
    stagger,
    start,
    step_inputs,
    where_rows,
)
from nbyt.collect.rollout import Rollout, discounted_sums, next_value
from nbyt.collect.segment import burn_in
from nbyt.envs.protocol import DeviceEnv
from nbyt.policy.actor_critic import ActorCritic, Params
from nbyt.policy.normalise import divided
from nbyt.rng import stream, streams

# The futures of a step, in the order of `Clones`: which answer each of them begins with, and which
# stream of later randomness it uses. 0 and 1 are new ones, 2 is the rollout's own.
ANSWERS = (0, 1, 2, 0)
LATER = (0, 1, 0, 2)
OWN = 2


class Discount(NamedTuple):
    """gamma, lam, and what rewards are divided by where the critic was trained on scaled ones."""

    gamma: float
    lam: float
    reward_scale: float | None = None


class ClonePlan(NamedTuple):
    """What to collect: so many blocks of `block` rollouts of `steps` steps, all with clones."""

    blocks: int
    block: int
    steps: int
    discount: Discount
    seed: int


class Clones(NamedTuple):
    """R rollouts of T steps, and the advantages that other futures of the same steps have.

    An advantage comes of the env's answer to the step's action (reward and next state) and of
    later randomness, of env and policy. own: the rollout's. first, second: both are new.
    onward: the rollout's answer, the first's randomness. echo: the other way round.
    All have as many steps to go as the rollout itself.
    """

    observation: Shaped[Array, "T R ..."]
    action: Shaped[Array, "T R ..."]
    ended: Bool[Array, "T R"]
    own: Float[Array, "T R"]
    first: Float[Array, "T R"]
    second: Float[Array, "T R"]
    onward: Float[Array, "T R"]
    echo: Float[Array, "T R"]


class _World(NamedTuple):
    """What all copies share; noise and keys are the rollouts' own randomness, [T, R]."""

    env: DeviceEnv
    policy: ActorCritic
    params: Params
    discount: Discount
    noise: Float[Array, "T R ..."]
    keys: Shaped[Array, "T R"]


class _Branch(NamedTuple):
    """The states of copies, their advantage so far, and the weight of later rewards."""

    state: Any
    observation: Shaped[Array, "..."]
    value: Float[Array, "..."]
    earned: Float[Array, "..."]
    weight: Float[Array, "..."]


class _Lanes(NamedTuple):
    """The second copy of each lane, and the time at which the first is through."""

    late: _Branch
    turn: Int[Array, " n"]


def cost(steps: int, rollouts: int) -> int:
    """Return about how many env steps rollouts and their clones take.

    To be added: what brings each rollout to a random phase of an episode, at most twice
    `segment.burn_in(env.time_limit)` steps.
    """
    return 2 * rollouts * steps * (steps + 1)


def device_clones(
    env: DeviceEnv, policy: ActorCritic, params: Params, plan: ClonePlan
) -> Iterator[Clones]:
    """Yield blocks of independent rollouts, each started at a random phase of an episode."""
    key = stream(jax.random.key(plan.seed), "clones")
    rollouts = plan.blocks * plan.block
    begun = start(env, rollouts, key)
    runner = stagger(env, policy, params, begun, key, burn_in(env.time_limit))
    keys = streams(key, "rollout", rollouts)
    for first in range(0, rollouts, plan.block):
        block = slice(first, first + plan.block)
        some = jax.tree.map(lambda x, block=block: x[block], (runner, keys))
        yield clones(env, policy, params, *some, plan.discount, plan.steps)


@partial(jax.jit, static_argnames=("env", "policy", "steps"))
def clones(
    env: DeviceEnv,
    policy: ActorCritic,
    params: Params,
    runner: Runner,
    keys: Shaped[Array, " R"],
    discount: Discount,
    steps: int,
) -> Clones:
    """Step R envs `steps` times, and resample the futures of each step."""
    inputs = jax.vmap(lambda key: step_inputs(policy, key, steps, 1), out_axes=1)(keys)
    inputs = jax.tree.map(lambda x: x[:, :, 0], inputs)
    last, (states, rows) = jax.lax.scan(partial(_move, env, policy, params), runner, inputs)
    made = as_rollout(env, policy, params, last, rows)
    own, after = _realised(made, (states, rows), last, discount)

    world = _World(env, policy, params, discount, inputs[0], inputs[1])
    clone_keys = jax.vmap(lambda key: jax.random.split(stream(key, "clone"), (2, steps)))(keys)
    starts = (states, made.observation, made.action, made.value)
    answered = _answered(
        world, jax.tree.map(lambda x: x.swapaxes(0, 1), starts), clone_keys[:, 0, -1]
    )
    branches = jax.tree.map(_begun, answered, after)
    found = _followed(world, branches, clone_keys[:, :, :-1])
    ended = made.terminated | made.truncated
    return Clones(made.observation, made.action, ended, own, *jnp.moveaxis(found, 0, -1))


def _move(
    env: DeviceEnv, policy: ActorCritic, params: Params, runner: Runner, inputs: Any
) -> tuple[Runner, tuple[Any, Row]]:
    moved, row = advance(env, policy, params, runner, inputs)
    return moved, (runner.state, row)


def _realised(
    made: Rollout, recorded: tuple[Any, Row], last: Runner, discount: Discount
) -> tuple[Float[Array, "T R"], _Branch]:
    """Return the rollout's own advantages, and the branch after each of its steps.

    After an end the next row belongs to another episode: such a branch has weight 0.
    """
    states, rows = recorded
    following = next_value(made)
    delta = _scaled(made.reward, discount) + discount.gamma * following - made.value
    ended = made.terminated | made.truncated
    weight = jnp.where(ended, 0.0, discount.gamma * discount.lam)
    own = discounted_sums(delta, weight)
    here, there = (states, rows.observation), (last.state, last.observation)
    state, observation = jax.tree.map(lambda x, y: jnp.concatenate([x[1:], y[None]]), here, there)
    return own, _Branch(state, observation, following, delta, weight)


def _answered(world: _World, starts: Any, keys: Shaped[Array, " R"]) -> _Branch:
    """Return branches [R, 2, T] after the env has answered the rollout's actions anew, twice."""
    state, observation, action, value = jax.tree.map(lambda x: jnp.stack([x, x], axis=1), starts)
    begun = _Branch(state, observation, value, jnp.zeros_like(value), jnp.ones_like(value))
    clone_keys = jax.vmap(lambda key: jax.random.split(key, value.shape[1:]))(keys)
    clone_keys, action, begun = jax.tree.map(_flat, (clone_keys, action, begun))
    branch = _earned(world, begun, action, clone_keys)
    return jax.tree.map(lambda x: x.reshape(*value.shape, *x.shape[1:]), branch)


def _begun(
    answered: Shaped[Array, "R 2 T ..."], own: Shaped[Array, "T R ..."]
) -> Shaped[Array, "R 4 T ..."]:
    return _with_own(answered, own)[:, jnp.array(ANSWERS)]


def _followed(
    world: _World, branches: _Branch, keys: Shaped[Array, "R 2 ahead"]
) -> Float[Array, "R 4 T"]:
    """Return the advantages of all branches at the end of their rollout.

    Branches of the first half of the steps come first in the lanes, those of the second half
    follow in mirrored order. Of an odd number the middle step is in both, and counts once.
    """
    rollouts, futures, steps = branches.weight.shape
    lanes, ahead = (steps + 1) // 2, steps - 1
    early = jax.tree.map(lambda x: _flat(x[:, :, :lanes]), branches)
    late = jax.tree.map(lambda x: _flat(x[:, :, : -lanes - 1 : -1]), branches)
    turn = jnp.broadcast_to(ahead - jnp.arange(lanes), (rollouts, futures, lanes))
    shared = _Lanes(late, turn.reshape(-1))
    begin = (early, jnp.zeros_like(early.earned))
    inputs = (jnp.arange(ahead), jnp.moveaxis(keys, -1, 0))
    carried, _ = jax.lax.scan(partial(_follow, world, shared), begin, inputs)
    branch, kept = _take_turns(shared, carried, jnp.int32(ahead))
    first, second = (x.reshape(turn.shape) for x in (kept, branch.earned))
    return jnp.concatenate([first, second[:, :, : steps - lanes][:, :, ::-1]], axis=-1)


def _follow(
    world: _World,
    lanes: _Lanes,
    carried: tuple[_Branch, jax.Array],
    inputs: tuple[jax.Array, Shaped[Array, "R 2"]],
) -> tuple[tuple[_Branch, jax.Array], None]:
    time, keys = inputs
    branch, kept = _take_turns(lanes, carried, time)
    policy, ahead = world.policy, len(world.keys) - 1
    lane = jnp.arange(branch.weight.shape[0] // (len(keys) * len(LATER)))
    # Where in the rollout a lane's copy is: first that of step `lane`, then that of its mirror.
    here = time + 1 + jnp.where(time < ahead - lane, lane, 0)
    shape = (OWN, len(lane))
    noise = jax.vmap(lambda key: policy.head.noise(key, shape))(keys[:, 0])
    step_keys = jax.vmap(lambda key: jax.random.split(key, shape))(keys[:, 1])
    noise = _dealt(noise, world.noise[here])
    step_keys = _dealt(step_keys, world.keys[here])
    parameters = policy.parameters(world.params, branch.observation)
    return (_earned(world, branch, policy.head.sample(parameters, noise), step_keys), kept), None


def _dealt(new: Shaped[Array, "R 2 lanes ..."], own: Shaped[Array, "lanes R ..."]) -> jax.Array:
    """Give every copy the randomness that its future uses, [n, ...]."""
    return _flat(_with_own(new, own)[:, jnp.array(LATER)])


def _take_turns(
    lanes: _Lanes, carried: tuple[_Branch, jax.Array], time: jax.Array
) -> tuple[_Branch, jax.Array]:
    """Keep the advantage of a lane's first copy where it has ended, and start the second."""
    branch, kept = carried
    now = lanes.turn == time
    return where_rows(now, lanes.late, branch), jnp.where(now, branch.earned, kept)


def _earned(world: _World, branch: _Branch, action: jax.Array, keys: jax.Array) -> _Branch:
    """Return the branches after `action`: their advantages have grown by weight times delta.

    A time limit is worth the critic's value of where it cut. After an end the weight is 0, and
    what the simulator says of such a state must not count, not even as 0 times not-a-number.
    """
    policy, discount = world.policy, world.discount
    after = jax.vmap(world.env.step)(keys, branch.state, policy.head.to_env(action))
    value = policy.value(world.params, after.observation)
    following = jnp.where(after.terminated, 0.0, value)
    delta = _scaled(after.reward, discount) + discount.gamma * following - branch.value
    gain = jnp.where(branch.weight > 0, branch.weight * delta, 0.0)
    ended = after.terminated | after.truncated
    weight = jnp.where(ended, 0.0, branch.weight * discount.gamma * discount.lam)
    return _Branch(after.state, after.observation, value, branch.earned + gain, weight)


def _scaled(reward: jax.Array, discount: Discount) -> jax.Array:
    scale = discount.reward_scale
    return reward if scale is None else divided(reward, scale)


def _with_own(
    new: Shaped[Array, "R 2 T ..."], own: Shaped[Array, "T R ..."]
) -> Shaped[Array, "R 3 T ..."]:
    return jnp.concatenate([new, own.swapaxes(0, 1)[:, None]], axis=1)


def _flat(x: Shaped[Array, "R futures lanes ..."]) -> Shaped[Array, "n ..."]:
    return x.reshape(-1, *x.shape[3:])
