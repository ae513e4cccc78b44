"""The oldest and the newest version of each dependency, from pyproject.toml and constraints.txt.

python -m benchmarks.versions.bounds prints the oldest of the core as constraints for pip.
"""

import tomllib
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

_ROOT = Path(__file__).parents[2]
CORE = "core"
# What the core tests need: many of them step gymnax's envs.
_TESTED = (CORE, "gymnax")


@dataclass(frozen=True)
class Bounds:
    """The versions of one package, for the core or for an extra.

    newest: None if constraints.txt does not name the package.
    """

    name: str
    group: str
    oldest: str
    newest: str | None


def project() -> dict[str, Any]:
    """Read the table `project` of pyproject.toml."""
    return tomllib.loads((_ROOT / "pyproject.toml").read_text())["project"]


def bounds() -> list[Bounds]:
    """List what the core needs, then what each extra needs; tools of development have no bounds."""
    declared = project()
    groups = {CORE: declared["dependencies"], **declared["optional-dependencies"]}
    newest = dict(_pins())
    return [
        Bounds(need.name, group, _lowest(need), newest.get(canonicalize_name(need.name)))
        for group, lines in groups.items()
        if group != "dev"
        for need in map(Requirement, lines)
    ]


def oldest_core() -> str:
    """The constraints with which pip installs the oldest version of what the core tests need."""
    return "\n".join(f"{each.name}=={each.oldest}" for each in bounds() if each.group in _TESTED)


def _lowest(need: Requirement) -> str:
    """The one lower bound of a requirement; a ValueError if there is not exactly one."""
    (lowest,) = (each.version for each in need.specifier if each.operator == ">=")
    return lowest


def _pins() -> Iterator[tuple[str, str]]:
    for line in (_ROOT / "constraints.txt").read_text().splitlines():
        name, equals, pinned = line.partition("==")
        if equals:
            yield canonicalize_name(name), pinned


if __name__ == "__main__":
    print(oldest_core())
