"""Stages as files: how a policy is written, and read back without trusting the file.

A file names no code. The policy's form is a handful of words and numbers, each checked; the
arrays must then have exactly the names, shapes and types that this form needs.
"""

from collections.abc import Callable
from dataclasses import asdict
from math import prod
from operator import le
from pathlib import Path
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

from nbyt.errors import StoreError
from nbyt.policy.actor_critic import ActorCritic, Stage
from nbyt.policy.distributions import Categorical, Gaussian, Head, MultiCategorical
from nbyt.policy.networks import Network
from nbyt.policy.q_policy import QPolicy
from nbyt.results import plain
from nbyt.store.formats import shown
from nbyt.store.run import load_stage
from nbyt.store.tensors import match

Tensors = dict[str, np.ndarray]

_HEADS = {"Categorical": Categorical, "MultiCategorical": MultiCategorical, "Gaussian": Gaussian}
# The policies of algorithms that have no actor and critic.
_POLICIES: dict[str, type[ActorCritic]] = {"dqn": QPolicy}
_PAIRS = (("vector", "mlp"), ("index", "mlp"), ("index", "table"), ("image", "cnn"))
_LARGEST = 1 << 31
_MOST_LAYERS = 10
# Products of a few weights must stay within float32; trained ones are far below.
_LARGEST_WEIGHT = 1e12
_MOMENTS = "observation/"


def stage_files(stage: Stage) -> tuple[Tensors, dict[str, Any]]:
    """Return the stage's arrays by name, and its facts with the policy in plain JSON values.

    The arrays of tables are called `logits` and `values`.
    """
    tensors = to_tensors(stage.params)
    if stage.policy.network.kind == "table":
        tensors = {name.rpartition("/")[2]: array for name, array in tensors.items()}
    return tensors, {**stage.facts, "policy": describe(stage.policy)}


def describe(policy: ActorCritic) -> dict[str, Any]:
    """Describe the policy in plain JSON values."""
    head = {"family": type(policy.head).__name__, **asdict(policy.head)}  # type: ignore[call-overload]
    # JSON has no infinity, and an unbounded action space has nothing else.
    bounds = {side: list(map(repr, head[side])) for side in ("low", "high") if side in head}
    return {**asdict(policy), "head": head | bounds}


def read_stage(path: Path, algo: str = "ppo") -> Stage:
    """Read a stage that this algorithm has written; raise a StoreError that says what is wrong."""
    tensors, kept = load_stage(path)
    facts = plain(kept)
    found = facts.get("algo", "ppo")  # stages that do not say are older than DQN
    if found != algo:
        raise StoreError(
            f"this is a stage of {shown(found)}, and one of '{algo}' is needed here",
            where=str(path),
            fix=f"give a stage that `nbyt train --algo {algo}` has written",
        )
    _require_usable(tensors, path)
    normalised = any(name.startswith(_MOMENTS) for name in tensors)
    policy, template = _revive(
        _POLICIES.get(algo, ActorCritic), facts["policy"], normalised, str(path)
    )
    names = {name.rpartition("/")[2]: name for name in shapes(template)}
    if policy.network.kind == "table":
        tensors = {names.get(name, name): array for name, array in tensors.items()}
    return Stage(policy, from_tensors(template, tensors, str(path)), facts)


def _require_usable(tensors: Tensors, path: Path) -> None:
    """Raise a StoreError for weights that no policy can act with, before an env is blamed."""
    for name, array in sorted(tensors.items()):
        unusable = int(array.size - np.isfinite(array).sum())
        if unusable:
            raise _bad_weights(name, path, f"{unusable} of {array.size} are NaN or infinite")
        # Moments of observations may be as large as the env's own numbers, squared.
        largest = 0.0 if name.startswith(_MOMENTS) else np.abs(array).max(initial=0)
        if largest > _LARGEST_WEIGHT:
            words = (
                f"the largest is {largest:.3g}, and beyond {_LARGEST_WEIGHT:g} float32 overflows"
            )
            raise _bad_weights(name, path, words)


def _bad_weights(name: str, path: Path, reason: str) -> StoreError:
    return StoreError(
        f"the weights {shown(name)} of this stage cannot be used: {reason}",
        where=str(path),
        fix="give another stage, or train it again",
    )


def to_tensors(tree: Any) -> Tensors:
    """Name every array of a pytree by its path, such as "actor/layers/0/w"."""
    leaves = jax.tree_util.tree_flatten_with_path(tree)[0]
    return {_name(path): np.asarray(leaf) for path, leaf in leaves}


def from_tensors(template: Any, tensors: Tensors, where: str) -> Any:
    """Build the pytree shaped like `template` from arrays of just its names, shapes and types."""
    match(tensors, shapes(template), where)
    paths, structure = jax.tree_util.tree_flatten_with_path(template)
    leaves = [jnp.asarray(tensors[_name(path)]) for path, _ in paths]
    return jax.tree_util.tree_unflatten(structure, leaves)


def shapes(template: Any) -> dict[str, tuple[tuple[int, ...], str]]:
    """Return the path, shape and dtype of every array that `template` needs."""
    leaves = jax.tree_util.tree_flatten_with_path(template)[0]
    return {_name(path): (tuple(leaf.shape), str(leaf.dtype)) for path, leaf in leaves}


def _name(path: tuple[Any, ...]) -> str:
    return "/".join(str(getattr(p, "name", getattr(p, "key", getattr(p, "idx", p)))) for p in path)


def _revive(
    kind: type[ActorCritic], form: dict[str, Any], normalised: bool, where: str
) -> tuple[ActorCritic, Any]:
    """Build the policy from its checked description, and the shapes of its parameters."""
    try:
        policy = kind(
            form["kind"],
            _sizes(form["shape"]),
            _head(form["head"]),
            _network(form["network"]),
            form["shared"],
            form["channels_first"],
        )
        _require_consistent(policy)
        # Shapes only: a file that claims a huge network must not make us allocate one.
        return policy, jax.eval_shape(lambda: policy.init(None, normalise_observations=normalised))
    except Exception as error:  # a form that anybody may have written fails in many ways
        raise StoreError(
            f"the stage's policy is not one that nbyt writes: {shown(repr(error))}",
            where=where,
            fix="train it again, or restore a copy",
        ) from error


def _require_consistent(policy: ActorCritic) -> None:
    """Raise a ValueError for parts that `actor_critic.build` never combines."""
    table, axes = policy.network.kind == "table", len(policy.shape)
    if (policy.kind, policy.network.kind) not in _PAIRS:
        raise ValueError(f"a {policy.network.kind} for {policy.kind} observations")
    if axes != {"image": 3, "index": 1}.get(policy.kind, axes):
        raise ValueError(f"{axes} axes for {policy.kind} observations")
    if table and (policy.shared or isinstance(policy.head, Gaussian)):
        raise ValueError("a table that is shared or has continuous actions")
    if policy.channels_first and policy.kind != "image":
        raise ValueError(f"channels in {policy.kind} observations")


def _head(form: dict[str, Any]) -> Head:
    family = _HEADS[form["family"]]
    if family is Categorical:
        return Categorical(*_sizes([form["actions"]]))
    if family is MultiCategorical:
        return MultiCategorical(_sizes(form["sizes"], sum))
    shape = _sizes(form["shape"])
    low, high = (tuple(float(x) for x in form[side]) for side in ("low", "high"))
    if not len(low) == len(high) == prod(shape) or not all(map(le, low, high)):
        raise ValueError("bounds that are none of this shape")
    return Gaussian(shape, low, high)


def _network(form: dict[str, Any]) -> Network:
    widths = _sizes(form["widths"], sum)
    if len(widths) > _MOST_LAYERS:
        raise ValueError(f"{len(widths)} layers")
    return Network(form["kind"], widths, form["activation"])


def _sizes(values: Any, extent: Callable[[tuple[int, ...]], int] = prod) -> tuple[int, ...]:
    sizes = tuple(values)
    if not sizes or extent(sizes) > _LARGEST:
        raise ValueError(f"sizes {values!r}")
    return sizes


def require_env(stage: Stage, env_id: str, where: str) -> None:
    """Raise a StoreError unless the stage was trained on this env."""
    trained_on = stage.facts.get("env")
    if trained_on != env_id:
        raise StoreError(
            f"this stage was trained on '{trained_on}', not on '{env_id}'",
            where=where,
            fix="give a stage of this env, or train one",
        )
