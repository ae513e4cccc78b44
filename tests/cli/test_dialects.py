"""`nbyt dialects` as a user gives it."""

import json

from tests.cli.commands import nbyt

from nbyt.dialects import names


def test_dialects_lists_every_library() -> None:
    record = json.loads(nbyt("dialects", "--json").stdout)
    assert [one["id"] for one in record["data"]["dialects"]] == names()
    one = json.loads(nbyt("dialects", "skrl", "--json").stdout)["data"]
    assert one["replay"]["replacement"] == "without" and one["words"]["envs"] == ["num_envs"]
