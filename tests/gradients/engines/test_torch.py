"""The torch engine against the JAX engine: the same weights, the same data, the same numbers."""

import jax
import pytest
from tests.gradients.comparing import (
    KINDS,
    SPEC,
    STEPS,
    assert_same_gradients_and_directions,
    assert_same_numbers,
    assert_slabs_of_any_size_give_the_same,
    stage_engine,
)
from tests.gradients.torch_twin import engine_of

from nbyt.gradients.engines import torch as torch_engine
from nbyt.gradients.spec import plan_for


@pytest.mark.parametrize(
    ("name", "large"),
    [*((kind, False) for kind in KINDS), *((kind, True) for kind in ("gaussian", "cnn-shared"))],
)
def test_both_engines_give_the_same_numbers(
    name: str, large: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Scores written down, and the layers that a large network is measured by."""
    monkeypatch.setattr(torch_engine, "LARGE", 0 if large else 10**9)
    engine = engine_of(name)[1]
    assert engine.by_layers == large
    assert_same_numbers(name, engine)


def test_slabs_of_any_size_give_the_same() -> None:
    assert_slabs_of_any_size_give_the_same(*engine_of("gaussian"))


def test_gradients_and_directions_are_the_same() -> None:
    assert_same_gradients_and_directions(*engine_of("cnn-shared"))


def test_memory_is_planned_for_written_out_scores() -> None:
    case, other = engine_of("mlp")
    own, spec = stage_engine(case), SPEC
    foot = other.footprint(spec)
    assert (
        foot.vectors
        == own.footprint(spec).vectors
        == sum(p.numel() for p in other.policy.module.parameters())
    )
    small = plan_for(foot, 64, spec, foot.row_bytes * 64)
    assert small.steps < STEPS
    assert jax.tree.leaves(own.params)
