"""Formats of files: JSON that carries its own hash, and rows of numbers as CSV.

Of sealed JSON no changed byte is believed; of CSV every float comes back to the bit.
"""

import csv
import hashlib
import io
import json
import re
from pathlib import Path
from typing import Any, NoReturn

from nbyt.errors import StoreError
from nbyt.store.atomic import canonical, read_bytes, write_bytes
from nbyt.store.manifest import version

FORMAT = 1
# From the metadata: the package root would bring every room of nbyt into this one's imports.
VERSION = version("nbyt")
JSON_LIMIT = 1 << 20
_SEAL = "self_sha256"
Row = dict[str, Any]
_RESTORE = "restore a copy of it, or make it again by training"


def sha256(data: bytes) -> str:
    """Return the SHA-256 of `data` in hexadecimal."""
    return hashlib.sha256(data).hexdigest()


def sealed(facts: dict[str, Any], *, kind: str, where: str = "", **more: str) -> bytes:
    """Format `facts` as canonical JSON with format, kind, writer and its own hash."""
    record = {"format": FORMAT, "kind": kind, "nbyt": VERSION, "facts": facts, **more}
    return canonical({**record, _SEAL: sha256(canonical(record, where=where))}, where=where)


def write_sealed(
    path: Path, facts: dict[str, Any], *, kind: str, limit: int = JSON_LIMIT, **more: str
) -> None:
    """Write the sealed record of `facts`."""
    data = sealed(facts, kind=kind, where=str(path), **more)
    require_room(path, len(data), limit)
    write_bytes(path, data)


def read_sealed(path: Path, *, kind: str, limit: int = JSON_LIMIT) -> dict[str, Any]:
    """Read the record in `path`, after checking its hash, format and kind, in that order.

    The hash comes first, so that a damaged file is called damaged and not "too new". That works
    only while every later format keeps this way of hashing: do not change it.
    """
    data = read_bytes(path, limit=limit)
    record = _parsed(path, data)
    _require_seal(path, record, data)
    _require_format(path, record)
    if record.get("kind") != kind:
        _reject(path, f"is a {shown(record.get('kind'))} file, not a {kind}", "give the right file")
    if not isinstance(record.get("facts"), dict):
        _reject(path, "has no facts")
    return record


def require_room(path: Path, size: int, limit: int) -> None:
    """Raise a StoreError for what could not be read back: it must not be written."""
    if size > limit:
        message = f"{path} would be {size} bytes, at most {limit} can be read back"
        raise StoreError(message, where=str(path), fix="store less in it")


def shown(value: object) -> str:
    """Return a short printable form of a value that came from a file."""
    text = ascii(value)
    return text if len(text) <= 80 else text[:77] + "..."


def _parsed(path: Path, data: bytes) -> dict[str, Any]:
    try:
        record = json.loads(data.decode("utf-8"), parse_constant=_no_constant)
    except (ValueError, RecursionError) as error:
        _reject(path, f"is not JSON that nbyt wrote: {shown(str(error))}")
    if not isinstance(record, dict):
        _reject(path, "is not a JSON object")
    return record


def _require_seal(path: Path, record: dict[str, Any], data: bytes) -> None:
    expected = record.pop(_SEAL, None)
    try:
        found = sha256(canonical(record))
        same = canonical({**record, _SEAL: found}) == data
    except StoreError as error:
        _reject(path, f"is not JSON that nbyt wrote: {shown(error.message)}")
    if expected != found:
        _reject(path, f"is damaged: sha256 expected {shown(expected)}, found '{found}'")
    if not same:
        # The values are right and the bytes are not: spaces, escapes, or a key given twice.
        _reject(path, f"is damaged: its text is not the one sealed with sha256 '{found}'")


def _require_format(path: Path, record: dict[str, Any]) -> None:
    number = record.get("format")
    if number == FORMAT and type(number) is int:
        return
    if type(number) is int and number > FORMAT:
        _reject(
            path,
            f"has format {shown(number)}, written by nbyt {shown(record.get('nbyt'))}; "
            f"nbyt {VERSION} reads up to format {FORMAT}",
            "upgrade: pip install -U nbyt",
        )
    _reject(path, f"has the unknown format {shown(number)}")


def _no_constant(name: str) -> NoReturn:
    raise ValueError(f"{name} is not a finite number")


def _reject(path: Path, reason: str, fix: str = _RESTORE) -> NoReturn:
    raise StoreError(f"{path} {reason}", where=str(path), fix=fix)


def to_csv(rows: list[Row], where: str) -> str:
    """Format rows as CSV; every row has exactly the columns of the first.

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
            raise _bad_rows(
                f"row {number} differs from the first row in the column '{odd[0]}'", where
            )
        writer.writerow([_written(row[column], column, where) for column in columns])
    return out.getvalue()


def from_csv(text: str, where: str) -> list[Row]:
    """Parse CSV that `to_csv` wrote."""
    try:
        lines = list(csv.reader(io.StringIO(text, newline=""), strict=True))
        columns = lines[0] if lines else []
        if len(set(columns)) != len(columns):
            raise ValueError("a column comes twice")
        return [
            dict(zip(columns, (_value(cell) for cell in line), strict=True)) for line in lines[1:]
        ]
    except (csv.Error, ValueError) as error:
        raise _bad_rows(f"{where} is not CSV that nbyt wrote: {str(error)!a}", where) from error


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
    raise _bad_rows(f"column '{column}' holds {value!r}, which CSV would not give back", where)


def _value(cell: str) -> int | float | str | None:
    if cell == "":
        return None
    if re.fullmatch(r"-?[0-9]+", cell):
        return int(cell)
    try:
        return float(cell)
    except ValueError:
        return cell


def _bad_rows(reason: str, where: str) -> StoreError:
    return StoreError(reason, where=where, fix="rows of numbers with the same columns are needed")
