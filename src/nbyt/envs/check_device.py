"""Checks on a device environment: its types under tracing, then one compiled run, judged."""

from collections.abc import Iterator
from functools import partial
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from gymnasium.spaces import Box, Discrete, Space

from nbyt.envs import spaces
from nbyt.envs.spaces import Fault, flag_faults, observation_faults, reward_faults
from nbyt.errors import EnvError, described


def judge(env: Any, seed: int, steps: int) -> tuple[list[Fault], list[str]]:
    """List every fault of a device env, and notes that are not faults."""
    found = [*_unhashable(env), *spaces.faults(env.observation_space, env.action_space)]
    structure = list(_structure(env))
    found.extend(structure)
    if structure or not isinstance(env.action_space, Space):
        return found, []  # what cannot be traced cannot be run
    first = _run(env, seed, steps)
    # A new trace, so that randomness drawn outside JAX shows as a difference.
    second = _run(env, seed, steps)
    found.extend(value_faults(first, env.observation_space))
    found.extend(_seeding(first, second))
    ended = bool((first[2] | first[3]).any())
    return found, [] if ended else [f"no episode ended in {steps} random steps"]


def advance(env: Any, carry: tuple[Any, Any], action: Any) -> tuple[tuple[Any, Any], Any]:
    """Take one step and reset where it ended the episode; a scan body, for one env."""
    key, state = carry
    key, step_key, reset_key = jax.random.split(key, 3)
    transition = env.step(step_key, state, action)
    ended = transition.terminated | transition.truncated
    fresh, _ = env.reset(reset_key)
    following = jax.tree.map(partial(jnp.where, ended), fresh, transition.state)
    return (key, following), tuple(transition)[1:]


def sampled(space: Space, seed: int, count: int) -> np.ndarray:
    """Sample `count` actions of a space, always the same for a seed."""
    space.seed(seed)
    return np.array([space.sample() for _ in range(count)])


def _unhashable(env: Any) -> Iterator[Fault]:
    try:
        hash(env)
    except TypeError as error:
        fix = "make it a frozen dataclass of hashable fields, or compare by identity (eq=False)"
        yield Fault("unhashable", f"the env cannot be a static argument: {error}", fix)


def _structure(env: Any) -> Iterator[Fault]:
    """Find faults of shapes and dtypes by tracing, without running anything."""
    key = jax.random.key(0)
    try:
        started = jax.eval_shape(env.reset, key)
        state, observation = started
    except Exception as error:
        yield _untraceable("reset", error)
        return
    action = jax.ShapeDtypeStruct(env.action_space.shape, env.action_space.dtype)
    try:
        stepped = jax.eval_shape(env.step, key, state, action)
        after = list(step_faults(state, stepped, env.observation_space))
    except Exception as error:
        yield _untraceable("step", error)
        return
    of_reset = list(_observation_type("reset", observation, env.observation_space))
    yield from of_reset
    yield from (fault for fault in after if fault.code not in {one.code for one in of_reset})


def step_faults(state: Any, stepped: Any, space: Any) -> Iterator[Fault]:
    """Find faults of shapes and dtypes in what `step` returned, as JAX traced it."""
    following, after, reward, terminated, truncated = stepped
    yield from _state(state, following)
    yield from _observation_type("step", after, space)
    if np.shape(reward) != ():
        yield Fault("reward_type", f"the reward is {reward}, not one number", "sum or squeeze it")
    for name, flag in (("terminated", terminated), ("truncated", truncated)):
        if np.shape(flag) != () or getattr(flag, "dtype", type(flag)) not in (jnp.bool_, bool):
            yield Fault(
                f"{name}_type", f"`{name}` is {flag}, not one boolean", "compare, not count"
            )


def _untraceable(name: str, error: Exception) -> Fault:
    own = error.__cause__ if isinstance(error, EnvError) and error.__cause__ else error
    message = f"{name} cannot be traced by JAX: {described(own).strip().splitlines()[0]}"
    fix = "use jax.numpy and lax.cond; reset gives (state, observation), step a Transition"
    return Fault(f"{name}_raises", message, fix)


def _state(state: Any, following: Any) -> Iterator[Fault]:
    before: Any = jax.tree.structure(state)
    after: Any = jax.tree.structure(following)
    kinds = [
        [(np.shape(leaf), jnp.result_type(leaf)) for leaf in jax.tree.leaves(tree)]
        for tree in (state, following)
    ]
    if before != after or kinds[0] != kinds[1]:
        message = f"step turns a state of {kinds[0]} into one of {kinds[1]}"
        fix = "keep the structure, shapes and dtypes of the state, or no scan can carry it"
        yield Fault("state_structure", message, fix)


def _observation_type(where: str, seen: Any, space: Any) -> Iterator[Fault]:
    if not isinstance(space, Box | Discrete):
        return  # refused as a whole
    shape, dtype = np.shape(seen), np.dtype(space.dtype)
    if shape != space.shape:
        message = f"the observation of {where} has shape {shape}, its space has {space.shape}"
        yield Fault("observation_shape", message, "return what the space says, or correct it")
    elif not np.can_cast(kind := jnp.result_type(seen), dtype):
        message = f"the observation of {where} is {kind}, its space is {dtype}"
        yield Fault("observation_dtype", message, f"return observation.astype('{dtype}')")


def rows_of(env: Any, key: Any, actions: Any) -> Any:
    """Return observations, rewards, terminated and truncated of one run, a row for each action."""
    state, _ = env.reset(key)
    return jax.lax.scan(partial(advance, env), (key, state), actions)[1]


def value_faults(rows: tuple[np.ndarray, ...], space: Any, place: str = "") -> Iterator[Fault]:
    """Find what is wrong with the rows of a run; place: what follows the number of a step."""
    named = [[(f"step {i}{place}", row) for i, row in enumerate(column)] for column in rows]
    yield from observation_faults(named[0], space)
    yield from reward_faults(named[1])
    yield from flag_faults("terminated", named[2])
    yield from flag_faults("truncated", named[3])


def _run(env: Any, seed: int, steps: int) -> tuple[np.ndarray, ...]:
    actions = sampled(env.action_space, seed, steps)
    run = jax.jit(lambda key, actions: rows_of(env, key, actions))
    return tuple(np.asarray(rows) for rows in run(jax.random.key(seed), actions))


def _seeding(first: tuple[np.ndarray, ...], second: tuple[np.ndarray, ...]) -> Iterator[Fault]:
    for once, again in zip(first, second, strict=True):
        if not np.array_equal(once, again, equal_nan=once.dtype.kind == "f"):
            message = "two runs with the same key and actions differ"
            yield Fault("seeding", message, "draw only from the key that is passed in")
            return
