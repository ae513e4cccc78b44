"""The examples in public docstrings run, and print what they say.

That of nbyt.integrations.sb3.advise takes a minute, and is not among them.
"""

import doctest
import importlib
from pathlib import Path

import pytest

MODULES = (
    "nbyt.advice.run",
    "nbyt.integrations.jax",
    "nbyt.integrations.sb3.callback",
    "nbyt.integrations.torch",
    "nbyt.layout",
    "nbyt.minibatch.auditing",
    "nbyt.minibatch.schemes",
    "nbyt.objective.advantage",
    "nbyt.sweep.run",
    "nbyt.train.dqn",
)


@pytest.mark.parametrize("name", MODULES)
def test_examples_run(name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    failed, attempted = doctest.testmod(importlib.import_module(name))
    assert failed == 0 and attempted > 0
