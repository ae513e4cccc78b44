"""Tables of pandas, and what is said without it."""

import sys

import pytest

from nbyt.errors import MissingExtraError
from nbyt.frames import flat, frame


def test_nested_names_are_joined_by_dots() -> None:
    assert flat({"loss": {"low": 0, "in": {"x": 1}}, "n": 2}) == {
        "loss.low": 0,
        "loss.in.x": 1,
        "n": 2,
    }


def test_rows_become_columns() -> None:
    assert list(frame([{"a": {"b": 1}}, {"a": {"b": 2}}])["a.b"]) == [1, 2]


def test_without_pandas_the_error_says_how_to_get_it(monkeypatch) -> None:
    monkeypatch.setitem(sys.modules, "pandas", None)
    with pytest.raises(MissingExtraError, match="pandas") as error:
        frame([])
    assert error.value.fix == "pip install pandas"
