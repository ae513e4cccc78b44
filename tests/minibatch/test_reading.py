"""Samplers are somebody's code: what can be read is read, the rest is refused in words."""

import itertools

import jax.numpy as jnp
import numpy as np
import pytest
from tests.minibatch.planted import right

from nbyt.errors import UsageError
from nbyt.minibatch import audit
from nbyt.minibatch.reading import read

torch = pytest.importorskip("torch")

SIZES = (64, 16, 2, 0)
FORMS = {
    "list": list,
    "tuple of ints": lambda one: tuple(one.tolist()),
    "jax": jnp.asarray,
    "torch": torch.as_tensor,
    "unsigned": lambda one: one.astype(np.uint16),
    "rows of a few": lambda one: one.reshape(4, 4),
    "mask": lambda one: np.isin(np.arange(64), one),
    "torch mask": lambda one: torch.as_tensor(np.isin(np.arange(64), one)),
}


@pytest.mark.parametrize("form", FORMS)
def test_many_forms_of_indices_are_read(form) -> None:
    given = [FORMS[form](one) for one in right(*SIZES)]
    found = read(lambda *sizes: given, *SIZES)
    for one, expected in zip(found, right(*SIZES), strict=True):
        np.testing.assert_array_equal(np.sort(one), np.sort(expected))


def test_slices_and_an_array_of_all_minibatches_are_read() -> None:
    found = read(lambda *sizes: [slice(first, first + 16) for first in range(0, 64, 16)], *SIZES)
    np.testing.assert_array_equal(np.concatenate(found), np.arange(64))
    rows = np.arange(128).reshape(8, 16) % 64
    np.testing.assert_array_equal(read(lambda *sizes: rows, *SIZES), rows)


def raising(*sizes):
    yield np.arange(16)
    raise RuntimeError("the disk is on fire")


def leaving(*sizes):
    raise SystemExit(3)


WRONG = {
    "nothing": (lambda *sizes: [], "gave no mini-batch"),
    "none": (lambda *sizes: None, "NoneType None, not mini-batches"),
    "a dictionary": (lambda *sizes: {"a": 1}, "dict"),
    "a number": (lambda *sizes: 7, "int 7, not mini-batches"),
    "single numbers": (lambda *sizes: range(64), "int 0, not an array"),
    "floats": (lambda *sizes: [np.arange(16) / 2], "not an array of whole numbers"),
    "words": (lambda *sizes: ["abc"], "str 'abc'"),
    "ragged": (lambda *sizes: [[[1, 2], [3]]], "which is no array"),
    "empty": (lambda *sizes: [np.arange(0)], "an empty mini-batch"),
    "too large": (lambda *sizes: [np.array([3, 64])], "index 64, not one of 0 to 63"),
    "negative": (lambda *sizes: [np.array([3, -1])], "index -1, not one of 0 to 63"),
    "wrong mask": (lambda *sizes: [np.ones(16, bool)], "not an array of whole numbers"),
    "raises": (raising, "RuntimeError: the disk is on fire"),
    "exits": (leaving, "SystemExit"),
    "other arguments": (lambda buffer: [], "TypeError"),
    "endless": (lambda *sizes: itertools.repeat(np.arange(16)), "more than 48 mini-batches"),
}


@pytest.mark.parametrize("case", WRONG)
def test_what_is_no_sampler_is_refused_in_words(case) -> None:
    sampler, words = WRONG[case]
    with pytest.raises(UsageError) as caught:
        read(sampler, *SIZES)
    assert words in caught.value.message and caught.value.where and caught.value.fix


def test_a_sampler_that_gives_everything_for_ever_is_not_read_for_ever() -> None:
    with pytest.raises(UsageError, match="reading stopped there"):
        audit(lambda *sizes: itertools.repeat(np.arange(64)), batch=64, minibatch=16, epochs=2)
