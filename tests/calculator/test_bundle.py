"""The script of the rules: every module is compiled, and data keep their kinds."""

import pytest

from nbyt.calculator.bundle import MODULES, compiled, literal, rules_script


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
