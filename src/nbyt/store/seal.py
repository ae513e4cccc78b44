"""JSON records that carry their own hash, so that no changed byte is ever believed."""

import hashlib
import json
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
_RESTORE = "restore a copy of it, or make it again by training"


def sha256(data: bytes) -> str:
    """The SHA-256 of `data` in hexadecimal."""
    return hashlib.sha256(data).hexdigest()


def sealed(facts: dict[str, Any], *, kind: str, where: str = "", **more: str) -> bytes:
    """A record of `facts` as canonical JSON, with format, kind, writer and its own hash."""
    record = {"format": FORMAT, "kind": kind, "nbyt": VERSION, "facts": facts, **more}
    return canonical({**record, _SEAL: sha256(canonical(record, where=where))}, where=where)


def write_sealed(
    path: Path, facts: dict[str, Any], *, kind: str, limit: int = JSON_LIMIT, **more: str
) -> None:
    """Nothing; `path` then holds the sealed record of `facts`."""
    data = sealed(facts, kind=kind, where=str(path), **more)
    require_room(path, len(data), limit)
    write_bytes(path, data)


def read_sealed(path: Path, *, kind: str, limit: int = JSON_LIMIT) -> dict[str, Any]:
    """The record in `path`, after its hash, format and kind have been checked, in that order.

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
    """Nothing, or a StoreError: what could not be read back must not be written."""
    if size > limit:
        raise StoreError(
            f"{path} would be {size} bytes, at most {limit} can be read back",
            where=str(path),
            fix="store less in it",
        )


def shown(value: object) -> str:
    """A short printable form of a value that came from a file."""
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
