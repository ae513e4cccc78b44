"""docs/dialects-live.md from result.json: every number on the page comes from the file.

python -m benchmarks.dialects.report
"""

import json
from pathlib import Path
from typing import Any

from benchmarks.dialects.run import RESULT
from nbyt.dialects.dialect import every

PAGE = Path(__file__).parents[2] / "docs" / "dialects-live.md"

_INTRODUCTION = """\
# Dialects against the real libraries

`nbyt explain` says how many updates a run makes, how many mini-batches of which sizes each update
has, and how many gradient steps the run takes. Here the libraries themselves are run, on CartPole
and with tiny settings, and counted: mini-batches as the library's own buffer or update hands them
out, gradient steps as calls of its optimiser or as its training state remembers them. Many
settings leave a rest, and some are refused. CleanRL is a collection of scripts: a script in its
style, at the version named, stands for it.

**{agreements} of {settings} settings agree in all of it.**

Written by `python -m benchmarks.dialects.report` from `benchmarks/dialects/result.json`; no number
here is typed by hand. To run it again: `make dialects-live` (an environment of its own, then about
{minutes} minutes).

"""


def main() -> None:
    """Write the page."""
    PAGE.write_text(page(json.loads(RESULT.read_text())))


def page(result: dict[str, Any]) -> str:
    """The page in Markdown."""
    text = _INTRODUCTION.format(
        agreements=result["agreements"],
        settings=result["settings"],
        minutes=max(1, round(result["wall_seconds"] / 60)),
    )
    for library, version in result["versions"].items():
        rows = [row for row in result["rows"] if row["library"] == library]
        agreed = sum(row["agrees"] for row in rows)
        text += f"## {library} {version}: {agreed} of {len(rows)}\n\n"
        text += "| settings | updates | mini-batches of an update | gradient steps | |\n"
        text += "|---|---|---|---|---|\n" + "".join(map(_line, rows)) + "\n"
    return text + _versions()


def _versions() -> str:
    """The table of all libraries: what was read, when, and whether it is counted."""
    rows = [
        f"| {one.id} | {one.library} | {one.version} | {one.read_on} | {one.live} |\n"
        for one in every()
    ]
    head = (
        "| id | library | version read | read on | counted, or why not |\n|---|---|---|---|---|\n"
    )
    return f"## What was read, and when\n\n{head}{''.join(rows)}"


def _line(row: dict[str, Any]) -> str:
    settings = ", ".join(f"{key}={value}" for key, value in row["settings"].items())
    seen, verdict = row["seen"], "agrees" if row["agrees"] else "differs"
    if seen["refused"]:
        return f"| {settings} | | refused | | {verdict} |\n"
    sizes = ", ".join(f"{count} of {size}" for size, count in seen["sizes_of_an_update"])
    return f"| {settings} | {seen['updates']} | {sizes} | {seen['gradient_steps']} | {verdict} |\n"


if __name__ == "__main__":
    main()
