"""Validate what commands print with --json against the schemas that are shipped."""

import functools
import json
from typing import Any

from jsonschema import Draft202012Validator

from nbyt.results.schema import ERROR, FOLDER


def closed(schema: Any) -> Any:
    """Return a schema that refuses keys it does not name, so that none is printed unnamed."""
    if isinstance(schema, list):
        return [closed(one) for one in schema]
    if not isinstance(schema, dict):
        return schema
    found = {key: closed(one) for key, one in schema.items()}
    is_record = "properties" in found and found.get("type") == "object"
    return {**found, "additionalProperties": False} if is_record else found


@functools.cache
def validator(command: str) -> Draft202012Validator:
    """Return the validator of a command's shipped schema, closed."""
    path = FOLDER / f"{command}.json"
    name = path if path.exists() else FOLDER / f"{ERROR}.json"
    return Draft202012Validator(closed(json.loads(name.read_text(encoding="utf-8"))))


def faults(record: Any) -> list[str]:
    """List what a printed object has that its schema does not allow, with its place."""
    found = []
    for error in validator(record["command"]).iter_errors(record):
        while error.context:  # of several forms, the one that fits best
            error = max(error.context, key=lambda one: len(one.absolute_path))
        found.append(f"{error.json_path}: {error.message[:300]}")
    return found
