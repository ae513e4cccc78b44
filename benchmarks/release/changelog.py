"""The changelog's form, and whether it says what a version brings."""

import re
from typing import NamedTuple

UNRELEASED = "Unreleased"
# In the order of Keep a Changelog.
_SECTIONS = ("Added", "Changed", "Deprecated", "Removed", "Fixed", "Security")
_ENTRY = re.compile(r"^## (?:\[(?P<name>[^\]]+)\])(?: - (?P<date>\d{4}-\d{2}-\d{2}))?$")


class Entry(NamedTuple):
    """What a changelog says about one version; no date for what is unreleased."""

    name: str
    date: str
    sections: tuple[str, ...]
    changes: int


def entries(text: str) -> list[Entry]:
    """Read a changelog, the newest first; a ValueError where it has another form."""
    found: list[Entry] = []
    for line in text.splitlines():
        if line.startswith("## "):
            match = _ENTRY.match(line)
            if match is None:
                raise ValueError(f"{line!r} is not `## [VERSION] - YYYY-MM-DD`")
            found.append(Entry(match["name"], match["date"] or "", (), 0))
        elif line.startswith("### "):
            if not found or line[4:] not in _SECTIONS:
                raise ValueError(f"{line!r} is not one of {', '.join(_SECTIONS)}")
            found[-1] = found[-1]._replace(sections=(*found[-1].sections, line[4:]))
        elif line.startswith("- ") and found:
            found[-1] = found[-1]._replace(changes=found[-1].changes + 1)
    return found


def faults(text: str, version: str, *, release: bool = False) -> list[str]:
    """List what is wrong with a changelog for the version that the package has.

    release: the version is about to be published, so it must be the top entry, with its date.
    """
    found = entries(text)
    released = [entry for entry in found if entry.name != UNRELEASED]
    bad = []
    if not found or UNRELEASED in [entry.name for entry in found[1:]]:
        bad.append(f"{UNRELEASED} is at the top, or nowhere")
    bad += [f"{entry.name} has no date" for entry in released if not entry.date]
    bad += [f"{entry.name} says nothing" for entry in released if not entry.changes]
    numbers = [tuple(map(int, entry.name.split("."))) for entry in released]
    if numbers != sorted(set(numbers), reverse=True):
        bad.append("versions are not in falling order")
    if released and released[0].name != version:
        bad.append(f"the top entry is {released[0].name}, and the package is {version}")
    if release and (not found or found[0].name != version):
        bad.append(f"the top entry is not {version}: move what is under {UNRELEASED} to it")
    return bad
