"""A small table of HTML for notebooks; every text in it is escaped."""

from html import escape


def table(title: str, rows: list[tuple[str, str]]) -> str:
    """A table of two columns under a title."""
    lines = [
        f"<tr><th style='text-align:left;vertical-align:top'>{escape(name)}</th>"
        f"<td style='text-align:left;white-space:pre-wrap'>{escape(text)}</td></tr>"
        for name, text in rows
    ]
    return f"<table><caption>{escape(title)}</caption>{''.join(lines)}</table>"
