"""Laws of releases: the changelog's form, the version, and what a tag needs."""

from pathlib import Path

import pytest
from benchmarks.release import changelog
from benchmarks.release.run import texts_at_fault

from nbyt import __version__

ROOT = Path(__file__).parents[2]
TOP = "# Changelog\n\n## [Unreleased]\n\n### Added\n\n- new\n\n"
OLD = "## [0.2.0] - 2026-02-01\n\n### Fixed\n\n- this\n\n## [0.1.0] - 2026-01-01\n\n- first\n"


def test_the_changelog_fits_the_version() -> None:
    text = (ROOT / "CHANGELOG.md").read_text("utf-8")
    assert changelog.entries(text)[0].changes > 0
    assert changelog.faults(text, __version__) == []


def test_a_changelog_in_order_has_no_faults() -> None:
    assert changelog.faults(TOP + OLD, "0.2.0") == []
    assert changelog.faults(OLD, "0.2.0", release=True) == []
    assert changelog.entries(TOP + OLD)[1] == ("0.2.0", "2026-02-01", ("Fixed",), 1)


@pytest.mark.parametrize(
    ("text", "version", "fault"),
    [
        (TOP + OLD, "0.1.0", "the top entry is 0.2.0, and the package is 0.1.0"),
        (TOP + OLD, "0.3.0", "the top entry is 0.2.0, and the package is 0.3.0"),
        (OLD + TOP, "0.2.0", "at the top, or nowhere"),
        ("", "0.1.0", "at the top, or nowhere"),
        (OLD.replace(" - 2026-02-01", ""), "0.2.0", "0.2.0 has no date"),
        (OLD.replace("- this\n", ""), "0.2.0", "0.2.0 says nothing"),
        (OLD.replace("0.1.0", "0.3.0"), "0.2.0", "falling order"),
    ],
)
def test_each_fault_of_a_changelog_is_named(text: str, version: str, fault: str) -> None:
    assert any(fault in one for one in changelog.faults(text, version))


@pytest.mark.parametrize("line", ["## 0.2.0", "## [0.2.0] 2026-02-01", "### Improved"])
def test_a_heading_of_another_form_is_refused(line: str) -> None:
    with pytest.raises(ValueError, match="is not"):
        changelog.entries(TOP + line + "\n")


def test_a_release_needs_its_entry_its_tag_and_real_addresses() -> None:
    assert texts_at_fault(None) == []
    told = "\n".join(texts_at_fault("v99.0.0"))
    assert f"the tag is v99.0.0, and the package is {__version__}" in told
    assert f"the top entry is not {__version__}" in "\n".join(
        changelog.faults(TOP, __version__, release=True)
    )


def test_the_version_is_told_once() -> None:
    citation = (ROOT / "CITATION.cff").read_text("utf-8")
    assert f"\nversion: {__version__}\n" in citation
    assert 'dynamic = ["version"]' in (ROOT / "pyproject.toml").read_text("utf-8")
