"""The page: docs/parity.md and its drawings, from the results that are kept.

    python -m benchmarks.parity.report

Exits with 1 where a task has fewer seeds than it needs or does not agree.
"""

import sys
from pathlib import Path

from benchmarks.parity import figure, results
from benchmarks.parity.compare import Comparison, Standing, standing
from benchmarks.parity.tasks import (
    EVALUATION_EPISODES,
    FIRST_SEEDS,
    MOST_SEEDS,
    RANDOM_EPISODES,
    TASKS,
)
from nbyt.store.atomic import write_text

_DOCS = Path(__file__).parents[2] / "docs"
_PAGE = Path(__file__).parent / "page.md"


def main() -> int:
    """The exit code; the page and its drawings are then written."""
    found = [now for task in TASKS if (now := standing(task)) is not None]
    if not found:
        print("no task has two seeds of both libraries yet: python -m benchmarks.parity.run")
        return 1
    write_text(_DOCS / "drawings" / "parity-curves.svg", figure.curves(found))
    write_text(_DOCS / "drawings" / "parity-differences.svg", figure.differences(found))
    write_text(_DOCS / "parity.md", _page(found))
    print(_table(found))
    enough = [now for now in found if now.agrees and len(now.seeds) >= FIRST_SEEDS]
    return 0 if len(enough) == len(TASKS) else 1


def _page(found: list[Standing]) -> str:
    return _PAGE.read_text().format(
        verdict=_verdict(found),
        table=_table(found),
        tasks=_tasks(found),
        evaluation=EVALUATION_EPISODES,
        random=RANDOM_EPISODES,
        first=FIRST_SEEDS,
        most=MOST_SEEDS,
        seeds=_seeds(found),
        versions=_versions(found),
    )


def _verdict(found: list[Standing]) -> str:
    named = [(f"{now.task.env} ({c.metric})", c.agrees) for now in found for c in now.comparisons]
    open_ones = [name for name, agrees in named if not agrees]
    if not open_ones:
        return f"**All {len(named)} comparisons agree.**"
    return (
        f"**{len(named) - len(open_ones)} of {len(named)} comparisons agree. Open: "
        f"{', '.join(open_ones)}.** Open means that the interval is not within ±10 %: either the "
        "libraries differ there, or there are too few seeds to say that they do not."
    )


def _table(found: list[Standing]) -> str:
    head = _head("task", "metric", "seeds", "nbyt", "SB3", "difference", "verdict")
    rows = [_row(now, comparison) for now in found for comparison in now.comparisons]
    return "\n".join([head, *rows])


def _head(*names: str) -> str:
    return f"| {' | '.join(names)} |\n|{'---|' * len(names)}"


def _row(now: Standing, comparison: Comparison) -> str:
    gap = comparison.difference
    shares = f"{100 * gap.value:+.1f} % [{100 * gap.low:+.1f}, {100 * gap.high:+.1f}]"
    verdict = "agrees" if comparison.agrees else "**open**"
    cells = (now.task.env, comparison.metric, len(now.seeds), comparison.nbyt, comparison.sb3)
    text = " | ".join(str(cell) for cell in cells)
    return f"| {text} | {shares} | {verdict} |".replace("-", "−").replace(
        now.task.env.replace("-", "−"), now.task.env
    )


def _tasks(found: list[Standing]) -> str:
    head = _head("task", "layout", "steps", "discount", "learning rate", "random", "SB3's best")
    rows = [
        f"| {now.task.env} | {now.task.envs} envs x {now.task.steps} steps | {now.task.total:,} | "
        f"{now.task.gamma:g} | {now.task.learning_rate:g} | {now.random:.0f} | {now.best:.0f} |"
        for now in found
    ]
    return "\n".join([head, *rows])


def _seeds(found: list[Standing]) -> str:
    listed = (f"{now.task.env}: {', '.join(str(seed) for seed in now.seeds)}" for now in found)
    return "; ".join(listed)


def _versions(found: list[Standing]) -> str:
    """Versions of the first result, and every commit of nbyt's package that made one."""
    now = found[0]
    versions = results.read(now.task, "nbyt", now.seeds[0])["versions"]
    named = ", ".join(f"{name} {version}" for name, version in versions.items() if name != "commit")
    commits = sorted(frozenset().union(*(now.commits for now in found)))
    return f"Made with {named}; nbyt's sources at {', '.join(commits)}."


if __name__ == "__main__":
    sys.exit(main())
