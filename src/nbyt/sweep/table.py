"""The table: a row for every cell, the same bytes however the sweep came to its end."""

import csv
import io
from collections.abc import Mapping
from typing import Any

from nbyt.sweep.grid import Cell, Grid
from nbyt.train.curves import Curve


def table_text(
    grid: Grid, curves: Mapping[Cell, Curve], failures: Mapping[Cell, dict[str, Any]]
) -> str:
    """The table as CSV: the layout, the seed, how it went, and the return at every point."""
    samples = [number * grid.batch for number in grid.points]
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    columns = ["envs", "steps", "seed", "status", "over_training", "final"]
    writer.writerow([*columns, *(f"return_at_{count}" for count in samples)])
    for cell in grid.cells:
        curve = curves.get(cell)
        if curve is not None:
            over = sum(curve.returns) / len(curve.returns)
            row = ["done", repr(over), repr(curve.returns[-1]), *map(repr, curve.returns)]
        else:
            status = "failed" if cell in failures else "missing"
            row = [status, *[""] * (2 + len(samples))]
        writer.writerow([*cell, *row])
    return text.getvalue()
