"""Laws of the shipped schemas. What commands print is validated wherever a test prints it: see
`json_is_as_its_schema_says` in tests/conftest.py.
"""

import copy
import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from jsonschema import Draft202012Validator
from tests.cli.commands import nbyt
from tests.golden.pinned import HERE
from tests.results.printed import closed, faults

from nbyt.cli.main import _COMMANDS
from nbyt.results.commands import PRINTED
from nbyt.results.schema import ERROR, FOLDER

PINS = HERE / "pins"
REAL = [json.loads(path.read_text())[1] for path in sorted(PINS.glob("json-*.json"))]


def shipped(name: str) -> Any:
    return json.loads((FOLDER / f"{name}.json").read_text("utf-8"))


def places(tree: Any) -> Iterator[tuple[Any, str]]:
    """Yield every object and key of a record whose keys are names of ours, and not a library's."""
    free = {"settings", "given", "defaults", "filled_defaults", "words", "presets", "learning"}
    free |= {"aliases", "derived", "equal_batch", "nearest"}
    if isinstance(tree, dict):
        for key, value in tree.items():
            yield tree, key
            if key not in free:
                yield from places(value)
    elif isinstance(tree, list):
        for one in tree:
            yield from places(one)


def test_every_command_has_its_schema_and_nothing_else_has() -> None:
    assert set(PRINTED) == set(_COMMANDS)
    assert {path.stem for path in FOLDER.iterdir()} == {*PRINTED, ERROR}


@pytest.mark.parametrize("name", [*PRINTED, ERROR])
def test_a_schema_is_valid(name: str) -> None:
    Draft202012Validator.check_schema(shipped(name))
    Draft202012Validator.check_schema(closed(shipped(name)))


@pytest.mark.parametrize("record", REAL, ids=lambda record: record["command"])
def test_a_key_that_is_missing_of_another_kind_or_unnamed_is_found(record: Any) -> None:
    assert faults(record) == []
    for at, (_, key) in enumerate(places(record)):
        if key == "command":  # says which schema is meant
            continue
        broken = copy.deepcopy(record)
        owner, _ = list(places(broken))[at]
        owner[key] = {"no": [[["such thing"]]]}
        assert faults(broken), key
        del owner[key]
        assert faults(broken), key
    assert faults({**record, "data": {**record["data"], "new": 1}})


def test_users_of_a_schema_may_meet_keys_of_later_versions() -> None:
    later = {**REAL[0], "data": {**REAL[0]["data"], "new": 1}}
    assert Draft202012Validator(shipped(later["command"])).is_valid(later)


def test_errors_have_a_schema_with_and_without_a_command() -> None:
    assert nbyt("trian", "--json", code=2).stdout
    told = json.loads(nbyt("explain", "sb3", "n_envs=0", "--json", code=2).stdout)
    assert told["error"]["code"] and faults(told) == []
    assert faults({**told, "data": {}}) and faults({**told, "status": "fine"})
    del told["error"]
    assert faults(told)


def test_a_study_as_it_is_stored_is_what_reproduce_prints() -> None:
    stored = json.loads((Path(HERE) / "folders" / "study" / "study.json").read_text())["facts"]
    envelope = {"nbyt": "0", "command": "reproduce", "status": "ok", "warnings": []}
    assert faults({**envelope, "data": stored}) == []
    del stored["claims"][0]["verdict"]
    assert faults({**envelope, "data": stored})
