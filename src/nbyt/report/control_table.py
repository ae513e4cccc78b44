"""A control's measured numbers beside its exact ones."""

from typing import Any

from rich.table import Table
from rich.text import Text

from nbyt.report.numbers import both

_SHOWN = ("individual", "covariance", "variance", "ess_ratio", "bias_sq", "alignment")


def control_table(rows: list[dict[str, Any]]) -> Table:
    """One line a number: measured with its interval, exact, and whether the interval holds it."""
    table = Table(box=None, padding=(0, 1))
    for word in ("N x T", "gradient", "number", "measured [95 %]", "exact", ""):
        table.add_column(word, justify="right" if word in ("N x T", "exact") else "left")
    last = None
    for row in (row for row in rows if row["number"] in _SHOWN):
        name = f"{row['envs']}x{row['steps']}"
        inside = Text("inside", "green") if row["inside"] else Text("outside", "yellow")
        if row["inside"] is None:
            inside = Text("-")
        exact = "-" if row["exact"] is None else f"{row['exact']:.4g}"
        place = (name, row["gradient"])
        shown = (name, row["gradient"]) if place != last else ("", "")
        table.add_row(*shown, row["number"], both(row["measured"]), exact, inside)
        last = place
    return table
