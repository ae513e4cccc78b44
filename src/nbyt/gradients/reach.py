"""Which parameters a JAX function depends on, seen from its program and not from its numbers.

A program may be read as depending on more than it does, which costs zeros; it is never read as
depending on less, which would lose a part of the gradient.
"""

from collections.abc import Callable
from functools import lru_cache
from typing import Any

import jax
import jax.numpy as jnp
from jax.extend.core import Jaxpr, JaxprEqn, Var

from nbyt.errors import UsageError

# More rows than one: R numbers for R rows can then be told from R x R of them.
_ROWS = 3


def reached_leaves(
    function: Callable[..., Any], part: str, params: Any, rows: tuple[Any, ...]
) -> tuple[int, ...]:
    """Places of the float leaves of `params` that function(params, *rows) depends on.

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
    found = _inputs(program, set(range(len(program.outvars))))
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


def _inputs(program: Jaxpr, outputs: set[int]) -> set[int]:
    """Places of the inputs that the outputs at these places depend on."""
    wanted = {program.outvars[place] for place in outputs if _is_variable(program.outvars[place])}
    for equation in reversed(program.eqns):
        used = {place for place, made in enumerate(equation.outvars) if made in wanted}
        # What an effect leaves behind may be read by any equation after it.
        if used or equation.effects:
            wanted.update(source for source in _sources(equation, used) if _is_variable(source))
    return {place for place, variable in enumerate(program.invars) if variable in wanted}


def _sources(equation: JaxprEqn, used: set[int]) -> list[Any]:
    """What the used outputs of an equation are made of, as far as a gradient goes back."""
    if equation.primitive.name == "stop_gradient":
        return []
    if equation.primitive.name == "jit" and not equation.effects:
        inside = _inputs(equation.params["jaxpr"].jaxpr, used)
        return [equation.invars[place] for place in inside]
    return list(equation.invars)


def _is_variable(one: Any) -> bool:
    return isinstance(one, Var)


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
