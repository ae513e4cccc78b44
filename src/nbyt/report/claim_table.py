"""A study's claims in a terminal: each with its verdict, and how its checks came out."""

from typing import Any

from rich.table import Table
from rich.text import Text

from nbyt.store.text import plain

_STYLES = {"holds": "green", "does not hold": "red", "holds when": "yellow"}


def claim_table(data: dict[str, Any]) -> Table:
    """One row for each claim; yes, no and open count its checks."""
    table = Table(box=None, pad_edge=False, show_header=True, header_style="bold")
    table.add_column("claim", ratio=3, overflow="fold")
    table.add_column("verdict", ratio=3, overflow="fold")
    for name in ("yes", "no", "open"):
        table.add_column(name, justify="right", no_wrap=True)
    for claim in data["claims"]:
        style = _STYLES.get(claim["word"], "")
        counts = [str(claim["counts"][name]) for name in ("yes", "no", "open")]
        verdict = Text(plain(claim["verdict"]), style=style)
        table.add_row(Text(plain(claim["claim"])), verdict, *counts)
    return table
