"""Tables in a terminal of 80 columns."""

import io
from typing import Any

from rich.console import Console

from nbyt.report.numbers import WIDTH

WIDE = {"value": -0.0123, "low": -0.0213, "high": -0.0031}


def widened(value: Any) -> Any:
    """Return the data with every number as wide as one can be."""
    if isinstance(value, dict):
        return WIDE if "low" in value else {name: widened(one) for name, one in value.items()}
    return [widened(one) for one in value] if isinstance(value, list) else value


def printed(table: Any) -> list[str]:
    """The lines that a terminal of 80 columns gets."""
    console = Console(file=io.StringIO(), width=WIDTH, highlight=False)
    console.print(table)
    return console.file.getvalue().splitlines()


def uncut(table: Any, numbers: int) -> str:
    """The words of a table that fits and has so many intervals, none of them cut."""
    lines = printed(table)
    text = " ".join(" ".join(lines).split())
    assert max(map(len, lines)) <= WIDTH and "…" not in text
    assert text.count("[") == text.count("]") == numbers
    return text
