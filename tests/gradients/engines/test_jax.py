"""The engine of JAX functions against nbyt's own: the same policy, only its layers not known."""

from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from numpy.testing import assert_allclose
from tests.gradients.comparing import (
    CHAINS,
    KINDS,
    SPEC,
    STEPS,
    assert_same_gradients_and_directions,
    assert_same_numbers,
    assert_slabs_of_any_size_give_the_same,
    case_of,
    products,
    stage_engine,
)
from tests.gradients.conftest import Case

from nbyt.errors import UsageError
from nbyt.gradients.engines import Engine
from nbyt.gradients.engines import jax as function_engine
from nbyt.gradients.engines.jax import FunctionEngine
from nbyt.gradients.spec import SlabPlan, plan_for

ROW = (np.ones((1, 2), np.float32), np.zeros(1, np.float32))


def functions(case: Case) -> dict[str, Any]:
    """A policy as the functions of its parameters that a user would give."""
    policy = case.policy
    return {
        "log_prob": lambda p, o, a: policy.head.log_prob(policy.parameters(p, o), a),
        "value": policy.value,
        "entropy": lambda p, o: policy.head.entropy(policy.parameters(p, o)),
    }


def engine_of(name: str) -> tuple[Case, FunctionEngine]:
    case = case_of(name)
    return case, FunctionEngine(case.params, **functions(case), row=case.rows(1, 3))


def linear(params: Any, seen: jax.Array, action: Any = None) -> jax.Array:
    return seen @ params["w"]


@pytest.mark.parametrize("name", [name for name in KINDS if name != "cnn-shared"])
def test_both_engines_give_the_same_numbers(name: str) -> None:
    _, engine = engine_of(name)
    assert isinstance(engine, Engine)
    assert_same_numbers(name, engine)


def test_slabs_of_any_size_give_the_same() -> None:
    assert_slabs_of_any_size_give_the_same(*engine_of("gaussian"))


def test_gradients_and_directions_are_the_same() -> None:
    assert_same_gradients_and_directions(*engine_of("cnn-shared"))


def test_new_weights_compile_nothing() -> None:
    case, engine = engine_of("mlp")
    given = functions(case)
    before = function_engine.sum_slab._cache_size()
    found = []
    for step in range(3):
        params = jax.tree.map(lambda x, step=step: x + 0.1 * step, case.params)
        engine = FunctionEngine(params, **given, row=engine.row)
        found.append(
            products(engine, case, SPEC, SlabPlan(CHAINS, STEPS, (), 0))["actor square 0 0"]
        )
    assert function_engine.sum_slab._cache_size() == before + 1
    assert np.abs(found[0] - found[1]).max() > 0 and np.abs(found[1] - found[2]).max() > 0


def test_memory_is_planned_for_written_out_scores() -> None:
    case, engine = engine_of("mlp")
    foot = engine.footprint(SPEC)
    assert foot.vectors == stage_engine(case).footprint(SPEC).vectors
    assert plan_for(foot, 64, SPEC, foot.row_bytes * 64).steps < STEPS


def test_only_what_is_trained_counts() -> None:
    """Integers, what no output needs, and what is held back, stay out; a compiled apply hides none.

    A leaf that is added with a constant gradient counts, though its gradient needs no input.
    """
    params = {
        "w": jnp.array([1.0, -2.0]),
        "bias": jnp.array(0.5),
        "count": jnp.array(3),
        "mean": jnp.array([0.1, 0.2]),
        "momentum": jnp.zeros(2),
        "critic": jnp.array([1.0, 1.0]),
    }

    @jax.jit
    def both(params: Any, seen: jax.Array) -> tuple[jax.Array, jax.Array]:
        seen = (seen - jax.lax.stop_gradient(params["mean"])) / params["count"]
        return seen @ params["w"] + params["bias"], seen @ params["critic"]

    engine = FunctionEngine(
        params, lambda p, o, a: a * both(p, o)[0], lambda p, o: both(p, o)[1], row=ROW
    )
    names = sorted(params)
    reached = {part: [names[place] for place in own.leaves] for part, own in engine.parts}
    assert reached == {"actor": ["bias", "w"], "critic": ["critic"]}
    assert not engine.shared
    seen, action = np.array([[3.0, 1.0], [0.0, 2.0]], np.float32), np.array([1, 2], np.float32)
    found = engine.gradient(seen, action, {"actor": np.ones(2), "critic": np.ones(2)})
    moved = (seen - np.array([0.1, 0.2])) / 3
    assert_allclose(found, [3, *moved.sum(0), *(action @ moved)], rtol=1e-5)


def test_what_goes_through_a_reference_is_reached() -> None:
    def log_prob(params: Any, seen: jax.Array, action: jax.Array) -> jax.Array:
        kept = jax.new_ref(jnp.zeros(2))
        kept[...] = params["w"]
        return seen @ kept[...]

    params = {"w": jnp.ones(2), "v": jnp.ones(2)}
    engine = FunctionEngine(params, log_prob, lambda p, o: o @ p["v"], row=ROW)
    assert [own.leaves for _, own in engine.parts] == [(1,), (0,)]


def test_parameters_of_half_precision_are_summed_in_full() -> None:
    params = {"w": jnp.array([1.0, 2.0], jnp.bfloat16)}
    engine = FunctionEngine(params, linear, linear, row=ROW)
    found = engine.gradient(ROW[0], ROW[1], {"actor": np.ones(1)})
    assert found.dtype == np.float32
    assert_allclose(engine.along(*ROW, found), [2.0])


@pytest.mark.parametrize(
    ("log_prob", "words"),
    [
        (lambda p, o, a: o @ jnp.stack([p["w"], p["w"]], 1), "numbers for 3 steps"),
        (lambda p, o, a: linear(p, o)[:, None] + a, "numbers for 3 steps"),
        (lambda p, o, a: (linear(p, o), a), "something else for 3 steps"),
        (lambda p, o, a: jax.lax.stop_gradient(linear(p, o)), "no parameter reaches the actor"),
        (lambda p, o, a: linear({"w": jnp.ones(2)}, o), "no parameter reaches the actor"),
    ],
)
def test_a_function_that_does_not_give_one_number_a_row_is_refused(
    log_prob: Any, words: str
) -> None:
    engine = FunctionEngine({"w": jnp.ones(2)}, log_prob, linear, row=ROW)
    with pytest.raises(UsageError, match=words):
        _ = engine.parts
