"""nbyt.explain, translate and compare say what the commands say."""

import pytest

import nbyt
from nbyt.errors import UsageError

SETTINGS = {"n_envs": 8, "n_steps": 125, "batch_size": 64}


def test_explain_has_the_layout_and_prints_traps() -> None:
    found = nbyt.explain("sb3", SETTINGS)
    assert found.layout["batch"] == 1000
    assert "trap: short_tail" in str(found) and "<table>" in found._repr_html_()


def test_a_file_is_read_behind_what_is_given(tmp_path) -> None:
    file = tmp_path / "settings.yaml"
    file.write_text("n_envs: 4\nn_steps: 128\n")
    assert nbyt.explain("sb3", {"n_envs": 8}, file=file).layout["batch"] == 1024


def test_translate_and_compare() -> None:
    translated = nbyt.translate("sb3", "cleanrl", SETTINGS)
    assert translated.settings["num_envs"] == 8 and "paste" in str(translated)
    compared = nbyt.compare(("sb3", SETTINGS), ("sb3", {**SETTINGS, "n_envs": 16}))
    assert "envs" in str(compared) and compared.changes[0].factor == 2


def test_a_setting_that_does_not_exist_is_refused() -> None:
    with pytest.raises(UsageError):
        nbyt.explain("sb3", {"n_env": 8})
