"""Without Stable-Baselines3 the extra is named."""

import sys

import pytest

from nbyt.errors import MissingExtraError
from nbyt.integrations.sb3.package import module


def test_without_the_package_the_extra_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "stable_baselines3", None)
    with pytest.raises(MissingExtraError) as missing:
        module("common.vec_env")
    assert "nbyt[sb3]" in missing.value.fix
