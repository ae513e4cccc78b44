"""Stages that explain an advice: named apart, read from where they are, and kept to their env."""

from dataclasses import replace
from pathlib import Path

import pytest

from nbyt.advice.request import effort, make_advice_request
from nbyt.advice.stages import given_stages, open_folder
from nbyt.errors import StoreError, UsageError
from nbyt.exact import frozenlake

CONTROL = frozenlake("mid")
REQUEST = make_advice_request(CONTROL.env, batch=64, effort=effort("quick"), steps=[4, 16])


def test_stages_of_one_update_are_named_apart() -> None:
    alone = given_stages([CONTROL.stage], CONTROL.env)
    both = given_stages([CONTROL.stage, CONTROL.stage], CONTROL.env)
    assert [one.name for one in both] == [f"stage {k}, {alone[0].name}" for k in (1, 2)]


def test_a_folder_without_a_stage_is_refused(tmp_path: Path) -> None:
    with pytest.raises(StoreError, match="neither a stage nor a run with stages"):
        given_stages([tmp_path], CONTROL.env)
    with pytest.raises(UsageError, match="no stage given"):
        given_stages([], CONTROL.env)


def test_the_folder_of_another_request_is_kept(tmp_path: Path) -> None:
    folder = open_folder(REQUEST, tmp_path / "advice", force=False)
    assert open_folder(REQUEST, folder.path, force=False).path == folder.path
    with pytest.raises(StoreError, match="total"):
        open_folder(replace(REQUEST, total=10**6), folder.path, force=False)
    stage = given_stages([CONTROL.stage], CONTROL.env)
    with pytest.raises(StoreError, match="from"):
        open_folder(REQUEST, folder.path, given=stage, force=False)
