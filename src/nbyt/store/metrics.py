"""Rows of numbers as CSV text; what is read back equals what was written, to the last bit."""

import csv
import io
import re
from typing import Any

from nbyt.errors import StoreError

Row = dict[str, Any]


def to_csv(rows: list[Row], where: str) -> str:
    """The rows as CSV; the columns are those of the first row, and every row has exactly them.

    A cell is a whole number, a float, text, or None (empty). True and False become 1 and 0.
    """
    if not rows:
        return ""
    columns = list(rows[0])
    out = io.StringIO(newline="")
    writer = csv.writer(out, lineterminator="\n")
    writer.writerow(columns)
    for number, row in enumerate(rows):
        odd = sorted(row.keys() ^ rows[0].keys())
        if odd:
            raise _bad(f"row {number} differs from the first row in the column '{odd[0]}'", where)
        writer.writerow([_written(row[column], column, where) for column in columns])
    return out.getvalue()


def from_csv(text: str, where: str) -> list[Row]:
    """The rows of a CSV text made by `to_csv`."""
    try:
        lines = list(csv.reader(io.StringIO(text, newline=""), strict=True))
        columns = lines[0] if lines else []
        if len(set(columns)) != len(columns):
            raise ValueError("a column comes twice")
        return [
            dict(zip(columns, (_value(cell) for cell in line), strict=True)) for line in lines[1:]
        ]
    except (csv.Error, ValueError) as error:
        raise _bad(f"{where} is not CSV that nbyt wrote: {str(error)!a}", where) from error


def _written(value: Any, column: str, where: str) -> str:
    if hasattr(value, "item") and getattr(value, "ndim", 0) == 0:
        value = value.item()  # float32 becomes the float of the same value
    if value is None:
        return ""
    if isinstance(value, int):
        return repr(int(value))
    if isinstance(value, float):
        return repr(float(value))
    if isinstance(value, str) and _value(value) == value:
        return value
    raise _bad(f"column '{column}' holds {value!r}, which CSV would not give back", where)


def _value(cell: str) -> int | float | str | None:
    if cell == "":
        return None
    if re.fullmatch(r"-?[0-9]+", cell):
        return int(cell)
    try:
        return float(cell)
    except ValueError:
        return cell


def _bad(reason: str, where: str) -> StoreError:
    return StoreError(reason, where=where, fix="rows of numbers with the same columns are needed")
