"""Timed updates as a table for a terminal of 80 columns."""

from collections.abc import Sequence

from rich.table import Table

from nbyt.report.numbers import cell
from nbyt.report.tables import filled
from nbyt.results.advice import TimedLayout


def time_table(rows: Sequence[TimedLayout]) -> Table:
    """Return the milliseconds of an update and the env steps a second, by layout."""
    heads = ("N x T", "ms/update", "env steps/s")
    cells = [
        [f"{one.envs}x{one.steps}", cell(one.milliseconds), f"{one.steps_per_second:,.0f}"]
        for one in rows
    ]
    return filled("updates that were timed", heads, cells)
