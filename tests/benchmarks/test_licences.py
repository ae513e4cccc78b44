"""Laws of licences: what is permissive, what is unknown, and what the core never has."""

from email.message import Message
from importlib.metadata import PathDistribution
from pathlib import Path

import pytest
from benchmarks.licences.names import UNKNOWN, is_permissive, licence_of
from benchmarks.licences.run import ACCEPTED, Dependency, faults, needed
from benchmarks.versions.bounds import CORE, project


def package(folder: Path, *lines: str) -> PathDistribution:
    """Write the metadata of a package."""
    place = folder / "made-1.0.dist-info"
    place.mkdir(exist_ok=True)
    place.joinpath("METADATA").write_text("\n".join(["Name: made", "Version: 1.0", *lines, ""]))
    assert isinstance(PathDistribution(place).metadata, Message)
    return PathDistribution(place)


@pytest.mark.parametrize(
    ("lines", "licence"),
    [
        (["License-Expression: MIT"], "MIT"),
        (["License-Expression: MIT OR GPL-3.0-only"], "MIT OR GPL-3.0-only"),
        (["License: Apache License, Version 2.0"], "Apache-2.0"),
        (["License: A text", "Classifier: License :: OSI Approved :: BSD License"], "BSD-3-Clause"),
        (["Classifier: License :: OSI Approved :: MIT License"], "MIT"),
        (["License: GPL-2.0"], "GPL-2.0"),
        (["Classifier: License :: OSI Approved :: Strange License"], UNKNOWN),
        ([], UNKNOWN),
    ],
)
def test_a_licence_is_read_from_what_a_package_says(
    lines: list[str], licence: str, tmp_path: Path
) -> None:
    assert licence_of(package(tmp_path, *lines)) == licence


@pytest.mark.parametrize("good", ["MIT", "MIT AND BSD-3-Clause", "GPL-3.0-only OR MIT"])
def test_permissive(good: str) -> None:
    assert is_permissive(good)


@pytest.mark.parametrize(
    "bad", ["GPL-3.0-only", "MIT AND GPL-3.0-only", "MPL-2.0", "(MIT OR GPL-3.0)", UNKNOWN, ""]
)
def test_not_permissive(bad: str) -> None:
    assert not is_permissive(bad)


def test_what_is_accepted_is_accepted_for_extras_alone_and_while_it_is_needed() -> None:
    name, (licence, _) = next(iter(ACCEPTED.items()))
    extra = Dependency(name, "1", ("ray",), licence)
    assert faults([extra]) == []
    assert faults([Dependency(name, "1", (CORE, "ray"), licence)])
    assert faults([Dependency(name, "1", ("ray",), "GPL-3.0-only")])
    assert faults([]) == [f"{one} is accepted and not needed" for one in sorted(ACCEPTED)]


def test_what_is_needed_by_what_is_needed_is_found() -> None:
    found = needed(project()["dependencies"])
    assert {"jax", "jaxlib", "ml-dtypes", "numpy"} <= found
    assert not found & set(ACCEPTED)
