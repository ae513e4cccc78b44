"""Arrays with facts on disk: a safetensors file and the sealed JSON that vouches for it."""

import contextlib
import json
import os
import re
from pathlib import Path
from typing import Any

import numpy as np
import safetensors.numpy

from nbyt.errors import NbytError, StoreError
from nbyt.store.atomic import read_bytes, write_bytes
from nbyt.store.formats import (
    JSON_LIMIT,
    read_sealed,
    require_room,
    sealed,
    sha256,
    shown,
    write_sealed,
)
from nbyt.store.paths import OpenFolder, disk_errors, opened, remove_file, temporary_name

HEADER_LIMIT = 16 << 20
ENTRY_LIMIT = 10_000
_DTYPES = {
    "BOOL": "bool",
    **{f"F{bits}": f"float{bits}" for bits in (16, 32, 64)},
    **{f"I{bits}": f"int{bits}" for bits in (8, 16, 32, 64)},
    **{f"U{bits}": f"uint{bits}" for bits in (8, 16, 32, 64)},
}
_FIX = "nbyt did not write this; restore a copy of it, or make it again by training"


def dump(tensors: dict[str, np.ndarray], where: str) -> bytes:
    """Encode tensors as safetensors; the same tensors give the same bytes in any order."""
    if len(tensors) > ENTRY_LIMIT:
        raise _bad(where, f"{len(tensors)} tensors are more than {ENTRY_LIMIT}", "store fewer")
    ready = {}
    for name, value in tensors.items():
        # order="C": safetensors copies memory as it lies, and would save a transpose untransposed.
        array = np.asarray(value, order="C")
        if array.dtype.name not in _DTYPES.values() or name == "__metadata__":
            raise _bad(where, f"tensor '{name}' of dtype {array.dtype} cannot be stored", "cast it")
        ready[name] = array
    return safetensors.numpy.save(ready)


def parse(data: bytes, where: str) -> dict[str, np.ndarray]:
    """Decode safetensors bytes from an untrusted source."""
    _check_header(data, where)
    try:
        tensors = safetensors.numpy.load(data)
    except Exception as error:  # a Rust parser and NumPy, on hostile bytes: many classes
        raise _bad(where, f"is no safetensors file: {ascii(str(error))[:200]}") from error
    for name, array in tensors.items():
        # A "bool" that is 2 is both true and unequal to True.
        if array.dtype == np.bool_ and array.size and array.view(np.uint8).max() > 1:
            raise _bad(where, f"has a bool that is neither 0 nor 1 in {ascii(name)[:80]}")
    return tensors


def _check_header(data: bytes, where: str) -> None:
    length = int.from_bytes(data[:8], "little")
    if len(data) < 8 or length > len(data) - 8:
        raise _bad(where, f"is no safetensors file: its header would take {length} bytes")
    if length > HEADER_LIMIT:
        raise _bad(where, f"has a header of {length} bytes, at most {HEADER_LIMIT} are read")
    try:
        header = json.loads(data[8 : 8 + length].decode("utf-8"))
    except (ValueError, RecursionError) as error:
        raise _bad(where, "is no safetensors file: its header is not JSON") from error
    if not isinstance(header, dict):
        raise _bad(where, "is no safetensors file: its header is not a JSON object")
    if len(header) > ENTRY_LIMIT:
        raise _bad(where, f"has {len(header)} tensors, at most {ENTRY_LIMIT} are read")
    for name, entry in header.items():
        _check_entry(name, entry, where)


def _check_entry(name: str, entry: Any, where: str) -> None:
    if name == "__metadata__":
        raise _bad(where, "has metadata, which nbyt never writes")
    dtype = entry.get("dtype") if isinstance(entry, dict) else None
    if not isinstance(dtype, str) or dtype not in _DTYPES:
        raise _bad(where, f"has tensor {ascii(name)[:80]} of dtype {ascii(dtype)[:80]}")


def _bad(where: str, reason: str, fix: str = _FIX) -> StoreError:
    return StoreError(f"{where} {reason}", where=where, fix=fix)


TENSORS_LIMIT = 2 << 30

Tensors = dict[str, np.ndarray]
Facts = dict[str, Any]
Template = dict[str, tuple[tuple[int, ...], Any]]


def write_bundle(folder: Path, name: str, tensors: Tensors, facts: Facts, *, kind: str) -> None:
    """Replace the pair in `folder`; after a crash at any instant the old pair is there.

    The tensors go to a file named after their hash, so they never overwrite the old ones; the
    JSON that names them is replaced in one step; only then is the old file removed.
    """
    record = folder / f"{name}.json"
    data = _dumped(tensors, record)
    digest = sha256(data)
    target = folder / hashed_name(name, digest)
    write_bytes(target, data)
    try:
        write_sealed(record, facts, kind=kind, file=target.name, sha256=digest)
    except BaseException:
        # Not if the record names it: it may be the old file too, or the record be in place already.
        if not _is_named(target.name, record):
            remove_file(target)
        raise
    for other in hashed_files(folder, name):
        if other.name != target.name:
            with contextlib.suppress(NbytError):
                remove_file(other)


def write_folder(folder: Path, name: str, tensors: Tensors, facts: Facts, *, kind: str) -> None:
    """Write `folder` so that it holds exactly the pair `name`.safetensors and `name`.json.

    The pair is written into a temporary folder that is renamed into place. A folder that already
    holds these very bytes is left alone; one with other content of ours is replaced.
    """
    data = _dumped(tensors, folder)
    names = (f"{name}.safetensors", f"{name}.json")
    record = sealed(facts, kind=kind, where=str(folder), file=names[0], sha256=sha256(data))
    require_room(folder / names[1], len(record), JSON_LIMIT)
    content = dict(zip(names, (data, record), strict=True))
    if os.path.lexists(folder):
        if _holds(folder, content):
            return
        with disk_errors(folder, 0):
            _require_replaceable(folder, set(names))
    temporary = temporary_name(folder.name)
    with disk_errors(folder, len(data) + len(record)), opened(folder.parent) as parent:
        try:
            parent.make(temporary)
            for file, payload in content.items():
                write_bytes(folder.parent / temporary / file, payload)
            _swap(parent, temporary, folder.name)
        except BaseException:
            with contextlib.suppress(OSError):
                parent.remove_all(temporary)
            raise


def read_bundle(folder: Path, name: str, *, kind: str) -> tuple[Tensors, Facts]:
    """Read the tensors and facts of a pair, after checking everything about both files."""
    path = folder / f"{name}.json"
    record = read_sealed(path, kind=kind)
    expected = str(record.get("sha256"))
    # Two names are possible and no other, so a file cannot point anywhere else.
    if record.get("file") not in (f"{name}.safetensors", hashed_name(name, expected)):
        raise StoreError(
            f"{path} names the tensors file {shown(record.get('file'))}, which cannot be its own",
            where=str(path),
            fix="nbyt did not write this; restore a copy of it, or make it again by training",
        )
    tensors_path = folder / record["file"]
    data = read_bytes(tensors_path, limit=TENSORS_LIMIT)
    found = sha256(data)
    if found != expected:
        message = f"{tensors_path} is damaged: sha256 expected {shown(expected)}, found '{found}'"
        fix = "restore a copy of it, or make it again by training"
        raise StoreError(message, where=str(tensors_path), fix=fix)
    return parse(data, str(tensors_path)), record["facts"]


def match(tensors: Tensors, template: Template, where: str) -> None:
    """Raise a StoreError unless names, shapes and dtypes are those of `template`."""
    for name in sorted(tensors.keys() | template.keys()):
        if name not in tensors:
            raise _mismatch(f"tensor '{name}' is missing", where)
        if name not in template:
            raise _mismatch(f"tensor {shown(name)} is not expected", where)
        wanted = _described(*template[name])
        found = _described(tensors[name].shape, tensors[name].dtype)
        if found != wanted:
            raise _mismatch(f"tensor '{name}' is {found}, expected {wanted}", where)


def hashed_name(name: str, digest: str) -> str:
    """Return the file name of tensors whose SHA-256 is `digest`; it never leaves the folder."""
    return f"{name}-{re.sub('[^0-9a-f]', '', digest)[:12]}.safetensors"


def hashed_files(folder: Path, name: str) -> list[Path]:
    """List the tensors files in `folder` that `write_bundle` wrote for `name`."""
    pattern = re.compile(re.escape(name) + r"-[0-9a-f]{12}\.safetensors")
    return [entry for entry in sorted(folder.iterdir()) if pattern.fullmatch(entry.name)]


def _dumped(tensors: Tensors, path: Path) -> bytes:
    data = dump(tensors, str(path))
    require_room(path, len(data), TENSORS_LIMIT)
    return data


def _is_named(name: str, record: Path) -> bool:
    try:
        return name.encode() in read_bytes(record, limit=JSON_LIMIT)
    except StoreError:
        return os.path.lexists(record)  # unreadable is no proof


def _holds(folder: Path, content: dict[str, bytes]) -> bool:
    try:
        return all(
            read_bytes(folder / file, limit=len(payload)) == payload
            for file, payload in content.items()
        )
    except StoreError:
        return False


def _require_replaceable(folder: Path, ours: set[str]) -> None:
    plain_folder = folder.is_dir() and not folder.is_symlink()
    foreign = _foreign(folder, ours) if plain_folder else {folder.name}
    if foreign:
        message = f"{folder} is in the way: {shown(min(foreign))} was not written by nbyt"
        raise StoreError(message, where=str(folder), fix="move it away, or choose another --out")


def _foreign(folder: Path, ours: set[str]) -> set[str]:
    entries = list(folder.iterdir())
    inside = {entry.name for entry in entries if entry.is_dir() and not entry.is_symlink()}
    return ({entry.name for entry in entries} - ours) | inside


def _swap(parent: OpenFolder, temporary: str, name: str) -> None:
    # A folder cannot be renamed over one with files in it: the old one steps aside first.
    aside = temporary_name(name) if os.path.lexists(parent.path / name) else None
    if aside:
        parent.move(name, aside)
    try:
        parent.move(temporary, name)
    except BaseException:
        if aside:
            parent.move(aside, name)
        raise
    parent.sync()
    if aside:
        with contextlib.suppress(OSError):
            parent.remove_all(aside)


def _described(shape: tuple[int, ...], dtype: Any) -> str:
    return f"{np.dtype(dtype).name}[{', '.join(str(size) for size in shape)}]"


def _mismatch(reason: str, where: str) -> StoreError:
    return StoreError(
        reason, where=where, fix="load it with the settings it was made with, or train again"
    )
