"""JSON Schemas of what commands print with --json, made from the types of the records.

The folder `schemas` beside this file has one for every command, and `error.json` for a command line
that could not be read. `make surface` writes them.
"""

import inspect
import json
from pathlib import Path
from typing import Any

import msgspec

from nbyt.results.commands import PRINTED
from nbyt.results.values import Record, Text, Texts

FOLDER = Path(__file__).with_name("schemas")
ERROR = "error"
_DRAFT = "https://json-schema.org/draft/2020-12/schema"
_REFERENCE = "#/$defs/{name}"


class PrintedError(Record, frozen=True, kw_only=True):
    """An error: what happened, where, and what to do. code: its kind, for scripts."""

    code: Text
    message: Text
    where: Text
    fix: Text


def schemas() -> dict[str, dict[str, Any]]:
    """Build the schema of every command's output by the name of its file, without `.json`."""
    return {ERROR: _schema(ERROR, ()), **{name: _schema(name, of) for name, of in PRINTED.items()}}


def _schema(command: str, forms: tuple[type[Record], ...]) -> dict[str, Any]:
    """Build the schema of one command: an object with its data in one of some forms, or an error.

    Keys may be added in later versions, so those that a schema does not name are allowed.
    """
    kinds = (Text, Texts, PrintedError, *forms)
    found, components = msgspec.json.schema_components(kinds, ref_template=_REFERENCE)
    text, texts, error, *data = found
    answered = {"properties": {"data": {"anyOf": data}}, "not": {"required": ["error"]}}
    failed = {"properties": {"data": {"type": "null"}}, "required": ["error"]}
    return {
        "$schema": _DRAFT,
        "title": f"nbyt {command} --json" if forms else "a command line that could not be read",
        "type": "object",
        "required": ["nbyt", "command", "status", "data", "warnings"],
        "properties": {
            "nbyt": text,
            "command": {"const": command} if forms else text,
            "status": {"enum": ["ok", "partial", "failed", "interrupted"]},
            "data": {},
            "warnings": texts,
            "error": error,
        },
        "oneOf": [answered, failed] if data else [failed],
        "$defs": {name: _canonical(one) for name, one in components.items()},
    }


def _canonical(component: Any) -> Any:
    """Put a part of a schema into the form that it has with every version of Python and msgspec.

    They differ in how docstrings are indented, and in which order alternatives come. The order of
    keys is not a part of the promise either.
    """
    if isinstance(component, list):
        return [_canonical(one) for one in component]
    if not isinstance(component, dict):
        return component
    found = {key: _canonical(component[key]) for key in sorted(component)}
    if isinstance(found.get("description"), str):
        found["description"] = inspect.cleandoc(found["description"])
    for key in {"anyOf", "required"} & set(found):
        if isinstance(found[key], list):
            found[key].sort(key=json.dumps)
    return found
