"""docs/cpus.md from result.json: which tests passed as another CPU would have run them.

python -m benchmarks.isas.report
"""

import json
from pathlib import Path
from typing import Any

from benchmarks.isas.run import RESULT
from benchmarks.timing.machine import in_words

PAGE = Path(__file__).parents[2] / "docs" / "cpus.md"

_INTRODUCTION = """\
# Any CPU

Another CPU rounds differently. After some updates of a training that is another training: other
actions, other episodes, other last digits everywhere. So outputs in these docs are what one CPU
printed; yours will differ in last digits, and sometimes in which of two equally good layouts is
named first. What must hold is tested with room, over whole episodes, and never against the numbers
of one run.

`make test-isas` runs all tests that train, draw or measure, once for each instruction set that the
CPU has (XLA, torch, NumPy and OpenBLAS are limited to it, programs are compiled as users have them,
and none comes from a cache), and then from initial weights that are a rounding error away, as a CPU
would that is not here. `make test` runs a short part of it. This page is written from
`benchmarks/isas/result.json`, the last run:

| pass | passed | failed | skipped | minutes |
|---|---|---|---|---|
"""

_CACHE = """
## Compiled programs

Programs are kept in `~/.cache/nbyt` (or under `XDG_CACHE_HOME`), in a folder for each kind of CPU:
machine code that one CPU compiled is never run by another, in a home that several machines share.
A folder there that is a link, or that somebody else owns or can write, is not used.
A damaged program is removed and compiled again, and a line says so.

"""


def page(found: dict[str, Any]) -> str:
    """Return the whole page."""
    rows = "".join(_row(one) for one in found["passes"])
    failures = sorted({test for one in found["passes"] for test in one["failures"]})
    said = "".join(f"- `{test}`\n" for test in failures)
    said = f"\nFailed somewhere:\n\n{said}" if failures else ""
    return f"{_INTRODUCTION}{rows}{said}{_CACHE}{in_words(found['machine'])}"


def _row(one: dict[str, Any]) -> str:
    cells = (one["name"], one["passed"], one["failed"], one["skipped"])
    return f"| {' | '.join(map(str, cells))} | {one['seconds'] / 60:.0f} |\n"


if __name__ == "__main__":
    PAGE.write_text(page(json.loads(RESULT.read_text())))
