"""Laws of metrics: floats come back bit for bit, and what would not come back is refused."""

import struct
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from nbyt.errors import StoreError
from nbyt.store import formats
from nbyt.store.files import METRICS
from nbyt.store.run import Folder

CELLS = st.none() | st.integers() | st.floats(allow_nan=False)


def bits(value: Any) -> Any:
    return struct.pack("<d", value) if isinstance(value, float) else (type(value), value)


@settings(derandomize=True, deadline=None, max_examples=200)
@given(st.lists(st.fixed_dictionaries({"a": CELLS, 'odd "name",\n': CELLS}), max_size=5))
def test_cells_come_back_bit_for_bit(rows: list[dict[str, Any]]) -> None:
    found = formats.from_csv(formats.to_csv(rows, ""), "")
    assert [{k: bits(v) for k, v in row.items()} for row in found] == [
        {k: bits(v) for k, v in row.items()} for row in rows
    ]


def test_nan_comes_back(tmp_path: Path) -> None:
    Folder(tmp_path).write(METRICS, [{"x": float("nan")}])
    (row,) = Folder(tmp_path).read(METRICS)
    assert row["x"] != row["x"]


def test_numpy_scalars_keep_their_value() -> None:
    rows = [{"x": np.float32(0.1), "n": np.int32(3), "b": True, "z": np.array(2.5), "t": "warm"}]
    assert formats.from_csv(formats.to_csv(rows, ""), "") == [
        {"x": float(np.float32(0.1)), "n": 3, "b": 1, "z": 2.5, "t": "warm"}
    ]


@pytest.mark.parametrize("value", ["", "12", "1e5", "nan", "1_0", [1], 1j, b"x"])
def test_cells_that_would_change_are_refused(value: object) -> None:
    with pytest.raises(StoreError, match="column 'x'"):
        formats.to_csv([{"x": value}], "metrics.csv")


@pytest.mark.parametrize("row", [{}, {"a": 1}, {"a": 1, "b": 2, "c": 3}])
def test_rows_with_other_columns_are_refused(row: dict[str, int]) -> None:
    with pytest.raises(StoreError, match="row 1 differs"):
        formats.to_csv([{"a": 1, "b": 2}, row], "metrics.csv")


@pytest.mark.parametrize("text", ["a,b\n1\n", "a,a\n1,2\n", 'a\n"x', "a\n\n", f"a\n{'9' * 5000}\n"])
def test_damaged_text_is_a_store_error(text: str) -> None:
    with pytest.raises(StoreError, match=r"metrics\.csv is not CSV"):
        formats.from_csv(text, "metrics.csv")
