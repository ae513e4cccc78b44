"""A record as it is written and read back, and what is said of one that is wrong."""

import json
from pathlib import Path
from typing import Any

import pytest

from nbyt.errors import StoreError
from nbyt.results import decode, plain
from nbyt.results.values import Record

FILE = Path("a-file.json")


def comes_back_whole(facts: Any, kind: type[Record]) -> bool:
    """Return True if a record is read as it was written."""
    written = json.loads(json.dumps(facts))
    return plain(decode(written, kind, FILE)) == written


def refused(facts: Any, kind: type[Record], words: str) -> None:
    """Assert that a record is refused with these words."""
    with pytest.raises(StoreError, match=words):
        decode(facts, kind, FILE)
