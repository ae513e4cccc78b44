"""The engine of policies that are JAX functions of parameters: scores by `jax.grad`, row by row.

For networks that nbyt did not build, in Flax or by hand. The programs are compiled once for each
shape: parameters are their arguments, so new weights of a training compile nothing.
"""

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from functools import cached_property, lru_cache, partial
from math import prod
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
from jax.extend.core import Jaxpr, JaxprEqn, Var
from jaxtyping import Array, Float

from nbyt.errors import UsageError
from nbyt.gradients.engines import JaxEngine, Programs
from nbyt.gradients.slab_sums import Lengths, Slab, SlabSums
from nbyt.gradients.spec import Footprint, GradientSpec, objective_parts
from nbyt.gradients.written import batch_norm_sq, sum_written

# A program may be read as depending on more than it does, which costs zeros; it is never read as
# depending on less, which would lose a part of the gradient.

# More rows than one: R numbers for R rows can then be told from R x R of them.
_ROWS = 3


def reached_leaves(
    function: Callable[..., Any], part: str, params: Any, rows: tuple[Any, ...]
) -> tuple[int, ...]:
    """Return places of the float leaves of `params` that function(params, *rows) depends on.

    Refused where there are none, or where the function does not give one number for each row.
    """
    leaves, form = jax.tree.flatten(jax.eval_shape(_itself, params))
    return _reached(function, part, form, tuple(leaves), jax.eval_shape(_itself, rows))


# A training measures with the same functions again and again; only its numbers are new.
@lru_cache(maxsize=64)
def _reached(
    function: Callable[..., Any],
    part: str,
    form: Any,
    leaves: tuple[jax.ShapeDtypeStruct, ...],
    rows: tuple[jax.ShapeDtypeStruct, ...],
) -> tuple[int, ...]:
    def called(leaves: Any, *rows: Any) -> Any:
        return function(jax.tree.unflatten(form, leaves), *rows)

    _require_rows(jax.eval_shape(called, leaves, *_of_count(rows, _ROWS)), part)
    program = jax.make_jaxpr(called)(leaves, *_of_count(rows, 1)).jaxpr
    found = _reach_inputs(program, set(range(len(program.outvars))))
    places = tuple(
        place
        for place, leaf in enumerate(leaves)
        if place in found and jnp.issubdtype(leaf.dtype, jnp.floating)
    )
    if not places:
        raise UsageError(
            f"no parameter reaches the {part}",
            where=part,
            fix="give a function that computes it from its first argument, the parameters",
        )
    return places


def _reach_inputs(program: Jaxpr, outputs: set[int]) -> set[int]:
    """Return places of the inputs that the outputs at these places depend on."""
    wanted = {
        program.outvars[place] for place in outputs if isinstance(program.outvars[place], Var)
    }
    for equation in reversed(program.eqns):
        used = {place for place, made in enumerate(equation.outvars) if made in wanted}
        # What an effect leaves behind may be read by any equation after it.
        if used or equation.effects:
            wanted.update(source for source in _sources(equation, used) if isinstance(source, Var))
    return {place for place, variable in enumerate(program.invars) if variable in wanted}


def _sources(equation: JaxprEqn, used: set[int]) -> list[Any]:
    """Return what the used outputs of an equation are made of, as far as a gradient goes back."""
    if equation.primitive.name == "stop_gradient":
        return []
    if equation.primitive.name == "jit" and not equation.effects:
        inside = _reach_inputs(equation.params["jaxpr"].jaxpr, used)
        return [equation.invars[place] for place in inside]
    return list(equation.invars)


def _of_count(rows: tuple[Any, ...], count: int) -> list[jax.ShapeDtypeStruct]:
    return [jax.ShapeDtypeStruct((count, *row.shape[1:]), row.dtype) for row in rows]


def _require_rows(output: Any, part: str) -> None:
    shape = getattr(output, "shape", None)
    if shape not in ((_ROWS,), (_ROWS, 1)):
        given = "something else" if shape is None else f"{shape} numbers"
        raise UsageError(
            f"the {part} gives {given} for {_ROWS} steps, not one number for each",
            where=part,
            fix="give a function of R rows that returns R numbers",
        )


def _itself(tree: Any) -> Any:
    return tree


Rows = Callable[..., Any]

# Numbers that the compiled program keeps for each number of a row's scores: measured.
_COPIES = 5
_BYTES = 4


class Part(NamedTuple):
    """A function of parameters and R rows, and the places of the leaves that it depends on."""

    function: Rows
    leaves: tuple[int, ...]


# part -> function; static in the programs, hence no dictionary
Parts = tuple[tuple[str, Part], ...]


@dataclass(frozen=True)
class FunctionEngine(JaxEngine):
    """Gradients of a policy and a critic that are functions of `params`, any tree of arrays.

    log_prob(params, observation, action), value(params, observation) and, where there is one,
    entropy(params, observation) give [R] for R rows, each row by itself. They are traced once:
    what changes during training must be in `params`, and what of it is not trained
    must pass through `jax.lax.stop_gradient`. row: one step, for its shapes.
    """

    params: Any
    log_prob: Rows
    value: Rows
    entropy: Rows | None = None
    row: tuple[np.ndarray, np.ndarray] = field(kw_only=True)

    @cached_property
    def parts(self) -> Parts:
        """Return the functions that there are, with the leaves that each depends on."""
        functions = {"actor": self.log_prob, "critic": self.value, "entropy": self.entropy}
        return tuple(
            (name, Part(f, reached_leaves(f, name, self.params, _inputs(name, *self.row))))
            for name, f in functions.items()
            if f is not None
        )

    @property
    def shared(self) -> bool:
        parts = dict(self.parts)
        return bool(set(parts["actor"].leaves) & set(parts["critic"].leaves))

    def footprint(self, spec: GradientSpec) -> Footprint:
        sizes = [prod(np.shape(leaf)) for leaf in jax.tree.leaves(self.params)]
        written = {
            name: sum(sizes[place] for place in _leaves(dict(self.parts), own))
            for name, own in objective_parts(spec).items()
        }
        row = sum(written[name] * len(own) for name, own in objective_parts(spec).items())
        return Footprint(row * _COPIES * _BYTES, sum(written.values()))

    @property
    def programs(self) -> Programs:
        return Programs(self.parts, self.params, sum_slab, _batch_norm_sq, _gradient, _along)


@partial(jax.jit, static_argnames=("parts", "steps", "lags"))
def sum_slab(
    parts: Parts, params: Any, slab: Slab, steps: Lengths, lags: Lengths
) -> dict[str, SlabSums]:
    """Sum a slab for each objective; `steps` are the lengths of the K fragments."""
    return {
        name: sum_written(jnp, scores, slab.fragment[name], slab.whole[name], steps, lags)
        for name, scores in _objectives(dict(parts), params, slab)
    }


@partial(jax.jit, static_argnames=("parts", "steps"))
def _batch_norm_sq(
    parts: Parts, params: Any, slab: Slab, steps: Lengths
) -> dict[str, Float[Array, "K M"]]:
    return {
        name: batch_norm_sq(jnp, scores, slab.fragment[name], steps)
        for name, scores in _objectives(dict(parts), params, slab)
    }


@partial(jax.jit, static_argnames="parts")
def _gradient(
    parts: Parts, params: Any, observation: Any, action: Any, weights: Any
) -> Float[Array, " P"]:
    named = dict(parts)
    places = _leaves(named, named)

    def total(own: list[jax.Array]) -> jax.Array:
        filled = _filled(params, places, own)
        found = {part: _output(named, part, filled, observation, action) for part in weights}
        return jnp.sum(jnp.stack([weights[part] * found[part] for part in weights]))

    return _joined(jax.grad(total)(_own(params, places)), ())


@partial(jax.jit, static_argnames="parts")
def _along(
    parts: Parts, params: Any, observation: Any, action: Any, direction: jax.Array
) -> Float[Array, " R"]:
    named = dict(parts)
    places = _leaves(named, named)
    own = _own(params, places)
    ends = np.cumsum([leaf.size for leaf in own])[:-1]
    pieces = [
        piece.reshape(leaf.shape).astype(leaf.dtype)
        for piece, leaf in zip(jnp.split(direction, ends), own, strict=True)
    ]

    def score(own: list[jax.Array]) -> jax.Array:
        return _output(named, "actor", _filled(params, places, own), observation, action)

    return jax.jvp(score, (own,), (pieces,))[1]


def _objectives(
    parts: dict[str, Part], params: Any, slab: Slab
) -> Iterator[tuple[str, dict[str, jax.Array]]]:
    """Return each objective with its parts' scores [c, t, P], 0 where a part does not reach."""
    shape = slab.observation.shape[:2]
    flat = [x.reshape(-1, *x.shape[2:]) for x in (slab.observation, slab.action)]
    scores = {part: _scores(parts, part, params, *flat) for part in slab.parts}
    leaves = jax.tree.leaves(params)
    for name, own in slab.fragment.items():
        places = _leaves(parts, own)
        columns_of = {
            part: [
                scores[part].get(place, jnp.zeros((len(flat[0]), *np.shape(leaves[place]))))
                for place in places
            ]
            for part in own
        }
        yield name, {part: _joined(columns, shape) for part, columns in columns_of.items()}


def _scores(
    parts: dict[str, Part], part: str, params: Any, observation: Any, action: Any
) -> dict[int, jax.Array]:
    """Return every step's gradient of one part to each leaf it depends on, by place."""
    places = parts[part].leaves

    def one(own: list[jax.Array], *row: jax.Array) -> jax.Array:
        return _output(parts, part, _filled(params, places, own), *[x[None] for x in row])[0]

    every = jax.vmap(jax.grad(one), in_axes=(None, 0, 0))
    return dict(zip(places, every(_own(params, places), observation, action), strict=True))


def _output(
    parts: dict[str, Part], part: str, params: Any, observation: Any, action: Any
) -> Float[Array, " R"]:
    given = _inputs(part, jnp.asarray(observation), jnp.asarray(action))
    return parts[part].function(params, *given).reshape(-1)


def _inputs(part: str, observation: Any, action: Any) -> tuple[Any, ...]:
    return (observation, action) if part == "actor" else (observation,)


def _leaves(parts: dict[str, Part], some: Any) -> tuple[int, ...]:
    """Return places of the leaves that some of the parts depend on."""
    return tuple(sorted({place for part in some for place in parts[part].leaves}))


def _own(params: Any, places: tuple[int, ...]) -> list[jax.Array]:
    leaves = jax.tree.leaves(params)
    return [jnp.asarray(leaves[place]) for place in places]


def _filled(params: Any, places: tuple[int, ...], own: list[jax.Array]) -> Any:
    leaves, form = jax.tree.flatten(params)
    for place, leaf in zip(places, own, strict=True):
        leaves[place] = leaf
    return jax.tree.unflatten(form, leaves)


def _joined(columns: list[jax.Array], shape: tuple[int, ...]) -> Float[Array, "... P"]:
    """Concatenate arrays [*shape, ...] or [prod(shape), ...] along one last axis."""
    flat = [column.reshape(*shape, -1) for column in columns]
    return jnp.concatenate(flat, axis=-1).astype(jnp.float32)
