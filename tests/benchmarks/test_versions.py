"""Laws of versions: the page is that of the two files, and no bound is above what is tested."""

import pytest
from benchmarks.versions import report
from benchmarks.versions.bounds import CORE, Bounds, bounds, oldest_core
from packaging.requirements import Requirement
from packaging.version import Version

ALL = bounds()


def test_the_page_is_that_of_the_files() -> None:
    assert report.PAGE.read_text() == report.page()


@pytest.mark.parametrize("each", ALL, ids=lambda each: f"{each.group}-{each.name}")
def test_the_newest_is_named_and_not_below_the_oldest(each: Bounds) -> None:
    assert each.newest is not None
    assert Version(each.oldest) <= Version(each.newest)


def test_the_classifiers_begin_with_the_oldest_python_that_is_allowed() -> None:
    assert report.project()["requires-python"] == f">={report.pythons()[0]}"


def test_the_constraints_allow_the_oldest_of_the_core_and_of_gymnax_alone() -> None:
    pins = {need.name: need.specifier for need in map(Requirement, oldest_core().splitlines())}
    core = [each for each in ALL if each.group in (CORE, "gymnax")]
    assert set(pins) == {each.name for each in core}
    for each in core:
        assert pins[each.name].contains(each.oldest)
        assert not pins[each.name].contains(f"{each.oldest}.1")
