"""Laws of Layout: what exists is consistent, what is refused is refused with a way out."""

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from nbyt.errors import LayoutError
from nbyt.layout import Layout, nearest_divisors

SIZES = st.integers(1, 60)


def divisors(number: int) -> list[int]:
    """Every divisor, the obvious way."""
    return [d for d in range(1, number + 1) if number % d == 0]


@given(SIZES, SIZES, st.integers(1, 400), st.integers(1, 9))
def test_a_layout_exists_exactly_where_the_minibatch_divides_the_batch(
    envs, steps, minibatch, epochs
) -> None:
    if (envs * steps) % minibatch:
        with pytest.raises(LayoutError, match=f"mini-batches of {minibatch}"):
            Layout(envs, steps, minibatch, epochs)
        return
    layout = Layout(envs, steps, minibatch, epochs)
    assert layout.batch == envs * steps
    assert layout.minibatch * layout.minibatches == layout.batch
    assert layout.gradient_steps == layout.minibatches * epochs
    assert layout.as_dict() == {
        "envs": envs,
        "steps": steps,
        "minibatch": minibatch,
        "epochs": epochs,
        "batch": envs * steps,
        "minibatches": envs * steps // minibatch,
    }


@given(SIZES, SIZES, st.integers(1, 5_000))
def test_a_refusal_names_the_nearest_sizes_that_work(envs, steps, minibatch) -> None:
    batch = envs * steps
    if batch % minibatch == 0:
        return
    with pytest.raises(LayoutError) as refused:
        Layout(envs, steps, minibatch)
    named = [int(word) for word in re.findall(r"\d+", refused.value.fix)]
    below = [d for d in divisors(batch) if d < minibatch]
    above = [d for d in divisors(batch) if d > minibatch]
    assert named == [max(below), *([min(above)] if above else [])]
    assert refused.value.where == "minibatch"
    for size in named:
        assert Layout(envs, steps, size).minibatch == size


@given(st.integers(1, 3_000), st.integers(1, 4_000))
def test_nearest_divisors_divide_and_none_lies_between(number, wanted) -> None:
    found = nearest_divisors(number, wanted)
    assert found == sorted(found)
    assert all(number % d == 0 for d in found)
    between = [d for d in divisors(number) if found[0] < d < found[-1]]
    assert not between
    assert (wanted in found) == (number % wanted == 0)


def test_a_huge_batch_is_refused_as_well_as_a_small_one() -> None:
    """2 x 10^9 samples: counting every number up to the batch would take minutes."""
    with pytest.raises(LayoutError) as refused:
        Layout(envs=40_000, steps=50_000, minibatch=7)
    assert refused.value.fix.endswith("5, 8")
    with pytest.raises(LayoutError, match="envs x steps must be"):
        Layout(envs=10**6, steps=10**6, minibatch=7)


@given(SIZES, SIZES)
def test_without_a_minibatch_the_batch_is_one(envs, steps) -> None:
    layout = Layout(envs, steps)
    assert (layout.minibatch, layout.minibatches) == (envs * steps, 1)


@given(SIZES, SIZES, st.integers(1, 20_000))
def test_updates_are_whole_and_as_many_as_fit(envs, steps, total) -> None:
    layout = Layout(envs, steps)
    if total < layout.batch:
        with pytest.raises(LayoutError, match=f"at least {layout.batch} steps"):
            layout.updates(total)
        return
    updates = layout.updates(total)
    assert updates * layout.batch <= total < (updates + 1) * layout.batch


@pytest.mark.parametrize("name", ["envs", "steps", "minibatch", "epochs"])
@pytest.mark.parametrize("size", [-1, -8, True, False, 2.0, 0.5, "4", None, float("nan")])
def test_sizes_that_are_no_whole_numbers_are_refused_by_name(name, size) -> None:
    with pytest.raises(LayoutError, match=f"{name} must be a whole number from 1 to") as error:
        Layout(**{"envs": 4, "steps": 4, "minibatch": 4, "epochs": 1, name: size})
    assert error.value.where == name


@pytest.mark.parametrize("name", ["envs", "steps", "epochs"])
def test_zero_is_refused(name) -> None:
    with pytest.raises(LayoutError, match=f"{name} must be"):
        Layout(**{"envs": 4, "steps": 4, "epochs": 1, name: 0})


@pytest.mark.parametrize("total", [0, -5, True, 1e6, "1000"])
def test_a_total_that_is_no_whole_number_is_refused(total) -> None:
    with pytest.raises(LayoutError, match="total must be"):
        Layout(1, 1).updates(total)
