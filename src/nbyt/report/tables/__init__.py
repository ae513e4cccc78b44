"""Results as tables for a terminal of 80 columns."""

from collections.abc import Sequence
from typing import Literal

from rich.table import Table

from nbyt.report.numbers import fitted, longest_word


def filled(
    title: str, heads: Sequence[str], rows: Sequence[Sequence[str]], *, padding: int = 1
) -> Table:
    """Build a table; intervals go below their values where they would not fit beside them.

    A column whose head is "stage" is on the left, one without a head holds remarks that wrap. The
    row whose first cell ends with a star is bold.
    """
    table = Table(title=title, title_justify="left", box=None, padding=(0, padding, 0, 0))
    cells = fitted(heads, rows, padding=padding)
    for place, head in enumerate(heads):
        if head:
            side: Literal["left", "right"] = "left" if head == "stage" else "right"
            table.add_column(head, justify=side, no_wrap=True)
        else:
            table.add_column(head, min_width=longest_word([row[place] for row in cells]))
    for row in cells:
        table.add_row(*row, style="bold" if row[0].endswith("*") else "")
    return table
