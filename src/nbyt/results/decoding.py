"""Dictionaries from JSON into frozen types, and back."""

import re
from pathlib import Path
from typing import Any, TypeVar

import msgspec

from nbyt.errors import StoreError

Kind = TypeVar("Kind")
_PLACE = re.compile(r"(?P<what>.*?)(?: - at `\$\.?(?P<place>.*)`)?", re.DOTALL)
_MISSING = re.compile(r"Object missing required field `(?P<key>.*)`")
_WORDS = {
    "`int | float`": "a number",
    "`int`": "a whole number",
    "`float`": "a number",
    "`str`": "text",
    "`bool`": "true or false",
    "`array`": "a list",
    "`object`": "an object",
    "`null`": "null",
}


def decode(facts: Any, kind: type[Kind], path: Path) -> Kind:
    """Decode what the file at `path` holds; raise a StoreError that names the key that is wrong."""
    try:
        return msgspec.convert(facts, kind)
    except (msgspec.ValidationError, RecursionError) as error:
        raise StoreError(
            f"{path} is not what nbyt writes: {_in_words(str(error))}",
            where=str(path),
            fix="restore a copy of it, or make it again with the command that wrote it",
        ) from error


def plain(record: msgspec.Struct) -> dict[str, Any]:
    """Encode a record as the dictionary that JSON has: lists, and no key that was absent."""
    data: dict[str, Any] = msgspec.json.decode(msgspec.json.encode(record))
    return data


def _in_words(message: str) -> str:
    """Put the key's path first, as in `layouts[3].low: expected a number, got text`."""
    found = _PLACE.fullmatch(message)
    what, place = (found["what"], found["place"] or "") if found else (message, "")
    if missing := _MISSING.fullmatch(what):
        return f"{place}{'.' * bool(place)}{missing['key']} is missing"
    for word, plain_word in _WORDS.items():
        what = what.replace(word, plain_word)
    what = what.replace("`", "'")
    return f"{place}: {what[:1].lower()}{what[1:]}" if place else what
