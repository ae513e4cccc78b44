"""docs/versions.md from pyproject.toml and constraints.txt.

python -m benchmarks.versions.report
"""

from pathlib import Path

from benchmarks.versions.bounds import CORE, Bounds, bounds, project
from nbyt.store.atomic import write_text

PAGE = Path(__file__).parents[2] / "docs" / "versions.md"
_WORDS = Path(__file__).with_name("page.md")
_PYTHON = "Programming Language :: Python :: "


def main() -> None:
    """Write the page."""
    write_text(PAGE, page())


def page() -> str:
    """Fill the words of page.md with what the two files say."""
    rows = "\n".join(map(_row, bounds()))
    return _WORDS.read_text().format(first=pythons()[0], last=pythons()[-1], rows=rows)


def pythons() -> list[str]:
    """List the versions of Python that the classifiers name, as they stand there."""
    named = project()["classifiers"]
    return [each.removeprefix(_PYTHON) for each in named if each.startswith(_PYTHON + "3.")]


def _row(each: Bounds) -> str:
    user = CORE if each.group == CORE else f"extra `{each.group}`"
    return f"| {each.name} | {user} | {each.oldest} | {each.newest} |"


if __name__ == "__main__":
    main()
