"""List every dependency of the core and of the extras with its licence.

python -m benchmarks.licences.run (`make licences`) ends with 1 if one is not permissive, or not
known; what is accepted all the same is in a table, with the reason.
"""

import sys
from collections.abc import Iterator
from dataclasses import dataclass
from importlib import metadata

from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

from benchmarks.licences.names import UNKNOWN, is_permissive, licence_of
from benchmarks.versions.bounds import CORE, project

# Only for extras; the core has no exception.
ACCEPTED = {"certifi": ("MPL-2.0", "a list of certificates that requests and httpx read, as it is")}


@dataclass(frozen=True)
class Dependency:
    """An installed package, what needs it (the core or extras), and its licence."""

    name: str
    version: str
    users: tuple[str, ...]
    licence: str

    @property
    def fault(self) -> str:
        """Return what is wrong with its licence; empty if nothing is."""
        if is_permissive(self.licence):
            return ""
        if CORE not in self.users and ACCEPTED.get(self.name, ("",))[0] == self.licence:
            return ""
        return "not known" if self.licence == UNKNOWN else "not permissive"


def main() -> None:
    """Print the list, and end with 1 if there is a fault."""
    found = dependencies()
    for one in found:
        print(f"{one.name:32} {one.version:16} {one.licence:24} {', '.join(one.users)}")
    for name, (licence, reason) in ACCEPTED.items():
        print(f"accepted: {name} ({licence}): {reason}")
    bad = faults(found)
    print(f"{len(found)} packages: {'; '.join(bad) if bad else 'all permissive, or accepted'}")
    sys.exit(bool(bad))


def faults(found: list[Dependency]) -> list[str]:
    """List licences that will not do, and exceptions that nothing needs any more."""
    bad = [f"{one.name} is {one.fault} ({one.licence})" for one in found if one.fault]
    unused = set(ACCEPTED) - {one.name for one in found}
    return bad + [f"{name} is accepted and not needed" for name in sorted(unused)]


def dependencies() -> list[Dependency]:
    """List what the core and the extras need on this machine, and what that needs, by name."""
    declared = project()
    groups = {CORE: declared["dependencies"], **declared["optional-dependencies"]}
    users: dict[str, list[str]] = {}
    for group, lines in groups.items():
        if group != "dev":
            for name in sorted(needed(lines)):
                users.setdefault(name, []).append(group)
    return [_dependency(name, tuple(users[name])) for name in sorted(users)]


def needed(lines: list[str]) -> set[str]:
    """Return the names of all packages that some requirements bring."""
    found: set[str] = set()
    seen: set[str] = set()
    waiting = [Requirement(line) for line in lines]
    while waiting:
        need = waiting.pop()
        if str(need) not in seen:
            seen.add(str(need))
            found.add(canonicalize_name(need.name))
            waiting += _needs_of(need)
    return found


def _needs_of(need: Requirement) -> Iterator[Requirement]:
    """Yield what a package asks for here, with the extras that are asked of it."""
    try:
        lines = metadata.requires(need.name) or []
    except metadata.PackageNotFoundError:
        sys.exit(f"{need.name} is not installed: `make install` brings it")
    for each in map(Requirement, lines):
        extras = need.extras or {""}
        if each.marker is None or any(each.marker.evaluate({"extra": one}) for one in extras):
            yield each


def _dependency(name: str, users: tuple[str, ...]) -> Dependency:
    package = metadata.distribution(name)
    return Dependency(name, package.version, users, licence_of(package))


if __name__ == "__main__":
    main()
