"""A sampler's mini-batches are cut into epochs, and sizes that cannot be are refused."""

import numpy as np
import pytest
from tests.minibatch import planted

from nbyt.errors import LayoutError, UsageError
from nbyt.minibatch import SCHEMES, audit
from nbyt.minibatch.epochs import ORDERS, audit_sizes, cut


def test_a_single_epoch_is_judged_by_several_updates() -> None:
    expected = {
        "right": set(),
        "in_order": {"unshuffled", "blocks"},
        "one_permutation_for_ever": {"same_permutation"},
        "fetched": {"unused", "repeated"},
    }
    for name, codes in expected.items():
        assert audit(getattr(planted, name), batch=512, minibatch=64, epochs=1).codes == codes
    rllib = SCHEMES["rllib"].sampler(8, 64)
    assert audit(rllib, batch=512, minibatch=64, epochs=1, envs=8).codes == {"unshuffled", "blocks"}


def test_questions_that_make_no_sense_are_refused() -> None:
    sizes = {"batch": 64, "minibatch": 8, "epochs": 2}
    for wrong in ({"batch": 0}, {"minibatch": 65}, {"epochs": True}, {"envs": 7}, {"steps": 0}):
        with pytest.raises(LayoutError):
            audit(planted.right, **(sizes | wrong))
    with pytest.raises(LayoutError, match="32 samples"):
        audit(planted.right, **sizes, envs=8, steps=4)
    with pytest.raises(UsageError, match="order"):
        audit(planted.right, **sizes, order="sideways")
    with pytest.raises(UsageError, match="no sampler can be made"):
        audit(7, **sizes)


def test_passes_that_run_into_each_other_are_cut_by_their_samples() -> None:
    """Six samples in mini-batches of four: the second one belongs to both passes."""
    call = [np.array(one) for one in ([0, 1, 2, 3], [4, 5, 3, 2], [1, 0, 5, 4])]
    (update,) = cut([call], call[:1], batch=6, epochs=2)
    assert update.wraps and update.passes is None and update.extra == 0
    first, second = update.epochs
    assert [one.tolist() for one in first.minibatches] == [[0, 1, 2, 3], [4, 5]]
    assert [one.tolist() for one in second.minibatches] == [[3, 2], [1, 0, 5, 4]]
    assert first.labels.tolist() == [0, 0, 0, 0, 1, 1] and not first.same_as(second)


def test_where_nothing_shows_the_epochs_they_are_equal_shares() -> None:
    call = [np.array([0, 0]), np.array([1, 1]), np.array([2, 2])]
    (update,) = cut([call], call[:1], batch=4, epochs=2)
    assert [len(epoch.minibatches) for epoch in update.epochs] == [2, 1]
    assert not update.epochs[0].apart and update.epochs[0].counts.tolist() == [2, 2, 0, 0]


def test_samples_have_their_env_in_either_order() -> None:
    for order in ORDERS:
        sizes = audit_sizes(6, 2, 1, envs=2, steps=None, order=order)
        assert (sizes.envs, sizes.steps) == (2, 3)
        # In time-major order the env of each sample is its place modulo 2.
        envs = sizes.env_of(np.arange(6))
        assert (sizes.as_time_major(np.arange(6)) % 2 == envs).all()
