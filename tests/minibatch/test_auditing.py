"""Laws of the audit: planted faults are found under their names, and right samplers pass."""

import numpy as np
import pytest
from tests.minibatch import planted

from nbyt.layout import Layout
from nbyt.minibatch import audit, shuffle_and_chop

RIGHT = ("right", "reshaped", "sorted_inside", "careless_of_seed", "split_evenly")


@pytest.mark.parametrize("name", RIGHT)
@pytest.mark.parametrize(("batch", "minibatch"), [(1024, 32), (1024, 1024), (24, 4), (256, 1)])
def test_a_right_sampler_passes(name, batch, minibatch) -> None:
    found = audit(getattr(planted, name), batch=batch, minibatch=minibatch, epochs=3)
    assert found.ok and found.coverage == 1 and found.remarks == ()
    assert found.variance_penalty.value == pytest.approx(1)


def test_fetching_with_replacement_is_counted_and_costs_what_the_formula_says() -> None:
    found = audit(planted.fetched, batch=2048, minibatch=256, epochs=4)
    assert found.coverage == pytest.approx(1 - np.exp(-1), abs=0.01)
    penalty = found.variance_penalty
    assert penalty.value == pytest.approx(1 + 255 / 2048, rel=5e-3)
    assert penalty.low == 1 and penalty.high == pytest.approx(2047 / (2048 - 256), rel=5e-3)


def test_blocks_have_no_formula_and_say_so() -> None:
    found = audit(planted.in_order, batch=512, minibatch=64, epochs=2).as_dict()
    assert found["variance_penalty"]["value"] is None and found["variance_penalty"]["reason"]


def test_the_audit_itself_is_repeatable_and_changes_no_random_state() -> None:
    before = np.random.get_state()[1].copy()
    first, second = (audit(planted.fetched, batch=64, minibatch=8, epochs=2) for _ in range(2))
    assert first.as_dict() == second.as_dict()
    np.testing.assert_array_equal(before, np.random.get_state()[1])


def test_our_own_sampler_passes() -> None:
    def ours(batch: int, minibatch: int, epochs: int, seed: int) -> np.ndarray:
        return shuffle_and_chop(
            Layout(8, batch // 8, minibatch, epochs), np.random.default_rng(seed)
        )

    assert audit(ours, batch=2048, minibatch=64, epochs=10, envs=8, steps=256).ok
