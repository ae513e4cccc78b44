"""The checks on the bytes of a safetensors file before any array is made of them."""

import json
from typing import Any

import numpy as np
import safetensors.numpy

from nbyt.errors import StoreError

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
    """The tensors as safetensors bytes; the same tensors give the same bytes in any order."""
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
    """The tensors in safetensors bytes that may come from anybody."""
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
