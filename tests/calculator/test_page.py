"""The calculator as somebody uses it: offline, at any width, light and dark."""

import json
from pathlib import Path
from typing import Any

import pytest
from tests.calculator.conftest import Opened, opened
from tests.cli.commands import nbyt
from tests.report.browsing import _CONTRASTS

from nbyt.calculator.page import MODULES, compiled, literal, rules_script

ENOUGH = 4.5


def answer(calculator: Opened) -> str:
    """The text of the result, once it has been worked out again."""
    calculator.page.wait_for_timeout(400)
    return " ".join(calculator.page.inner_text("#result").split())


def fill(calculator: Opened, **values: str) -> None:
    """Write into fields of the first side."""
    for key, value in values.items():
        calculator.page.fill(f"#first-{key}", value)


def test_the_command_writes_one_file_that_asks_for_nothing(tmp_path: Path, chromium: Any) -> None:
    path = tmp_path / "my calculator.html"
    data = json.loads(nbyt("calculator", "--out", str(path), "--json").stdout)["data"]
    assert data["bytes"] == path.stat().st_size < 600_000
    found = opened(chromium, path)
    assert (found.asked, found.complaints) == ([], [])
    found.page.context.close()


def test_a_trap_is_shown_and_its_button_removes_it(calculator: Opened) -> None:
    fill(calculator, n_envs="8", n_steps="125", batch_size="64")
    assert "short tail" in answer(calculator)
    calculator.page.click("#result .fixes button")
    said = answer(calculator)
    assert "No traps found" in said and "8 × 125" in said
    fill(calculator, n_steps="256", batch_size="")
    assert calculator.complaints == []


def test_what_is_pasted_is_read_however_it_is_written(calculator: Opened) -> None:
    texts = {
        "n_envs=4, n_steps=64, batch_size=32": "4 × 64",
        '{"n_envs": 4, "policy": "x", "n_steps": 64}': "4 × 64",
        "n_envs: 4\nn_timesteps: !!float 1e7\nn_steps: 64  # each": "4 × 64",
        "python train.py --n-envs 4 --n-steps=64 --track": "4 × 64",
    }
    fill(calculator, n_envs="", n_steps="")
    for text, shape in texts.items():
        calculator.page.fill("#first-paste", text)
        assert shape in answer(calculator), text
    calculator.page.fill("#first-paste", "")
    fill(calculator, n_envs="8", n_steps="256")


def test_missing_and_wrong_settings_are_told(calculator: Opened) -> None:
    calculator.page.select_option("#first-library", "rsl_rl")
    said = answer(calculator)
    assert "no default for num_envs and num_steps_per_env" in said and "20 gradient steps" in said
    fill(calculator, num_envs="four")
    assert "num_envs must be a whole number" in answer(calculator)
    calculator.page.select_option("#first-library", "sb3")
    fill(calculator, n_envs="8", n_steps="256")


def test_another_library_and_a_second_setting(calculator: Opened) -> None:
    answer(calculator)
    page = calculator.page
    page.select_option("#target", "rllib")
    assert "train_batch_size_per_learner=2048" in page.inner_text("#translation pre")
    assert "not" in page.inner_text("#translation p")
    assert "8 times" in page.inner_text("#comparison")
    page.click("#comparison .fixes button")
    page.wait_for_timeout(400)
    row = page.inner_text("#comparison tr:has(th:text-is('batch'))")
    assert "same" in row


def test_hostile_text_stays_text(calculator: Opened) -> None:
    calculator.page.fill("#first-paste", "n_epochs=<img/src=x/onerror=alert>")
    said = answer(calculator)
    assert "not '<img/src=x/onerror=alert>'" in said and calculator.asked == []
    calculator.page.fill("#first-paste", "")


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("width", [1280, 390])
def test_it_fits_and_can_be_read(calculator: Opened, width: int, scheme: str) -> None:
    page = calculator.page
    page.set_viewport_size({"width": width, "height": 900})
    page.emulate_media(color_scheme=scheme)
    page.fill("#first-n_steps", "125")
    assert "short tail" in answer(calculator)
    assert page.evaluate("document.documentElement.scrollWidth") <= width
    weak = [row for row in page.evaluate(_CONTRASTS) if row[2] < ENOUGH]
    assert weak == []
    sizes = page.evaluate(
        "[...document.querySelectorAll('.drawing text')].map(e => e.getBoundingClientRect().height)"
    )
    assert min(sizes) >= 12
    page.set_viewport_size({"width": 1280, "height": 900})
    page.emulate_media(color_scheme="light")
    page.fill("#first-n_steps", "256")


def test_every_field_has_a_label_and_the_drawing_has_words(calculator: Opened) -> None:
    unlabelled = calculator.page.evaluate(
        "[...document.querySelectorAll('input, select, textarea')]"
        ".filter(e => !e.labels.length).length"
    )
    assert unlabelled == 0
    assert "envs times" in calculator.page.get_attribute("#result .drawing", "aria-label")


@pytest.mark.parametrize("name", [one for one, _ in MODULES])
def test_every_module_of_rules_stays_within_what_can_be_compiled(name: str) -> None:
    only = dict(MODULES)[name]
    assert f'py.module("{name}"' in compiled(name, only)


def test_whole_numbers_and_fractions_stay_apart() -> None:
    written = literal({"a": [1, 1.0, True, "x"]})
    assert written == 'py.dict([["a", [1n, 1.0, true, "x"]]])'


def test_the_script_holds_every_library_and_ends_no_element() -> None:
    script = rules_script()
    assert '["sb3", py.dict(' in script and "</script" not in script.lower()
