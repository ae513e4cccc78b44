"""Laws of refreshed constraints: sorted, dated, and read back by what rests on them."""

from benchmarks.versions import refresh
from packaging.utils import canonicalize_name


def test_constraints_are_sorted_and_carry_their_date() -> None:
    text = refresh.constraints({"zipp": "4.1", "Alpha_b": "1", "alpha-a": "2"}, "2030-02-01")
    lines = text.splitlines()
    assert lines[0].startswith("# Refreshed on 2030-02-01 ")
    assert lines[-3:] == ["alpha-a==2", "Alpha_b==1", "zipp==4.1"]
    assert f"torch {refresh.HELD['torch']} " in lines[1]
    module = '"""Words."""\n\nCONSTRAINTS_REFRESHED = "2026-01-01"\n'
    assert refresh.dated(module, text) == module.replace("2026-01-01", "2030-02-01")


def test_the_file_has_the_form_that_is_written() -> None:
    text = refresh.CONSTRAINTS.read_text("utf-8")
    pins = dict(line.split("==") for line in text.splitlines() if "==" in line)
    date = text.split()[3]
    assert refresh.constraints(pins, date) == text
    assert refresh.dated(refresh.TESTED.read_text("utf-8"), text) == refresh.TESTED.read_text()
    held = {canonicalize_name(name): version for name, version in pins.items()}
    assert refresh.HELD.items() <= held.items()
