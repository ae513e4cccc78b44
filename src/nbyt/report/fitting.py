"""Tables that fit a terminal of 80 columns without a word being cut."""

from collections.abc import Sequence

WIDTH = 80


def fitted(
    heads: Sequence[str], rows: Sequence[Sequence[str]], *, padding: int = 1
) -> list[list[str]]:
    """The cells, with each interval under its value where 80 columns would not hold the table.

    heads: the columns' titles; a column without one holds remarks, which wrap between words.
    padding: what separates two columns.
    """
    columns = [[head, *cells] for head, cells in zip(heads, zip(*rows, strict=True), strict=True)]
    widths = [_width(column, wraps=not column[0]) + padding for column in columns]
    fits = sum(widths) <= WIDTH
    return [[cell if fits else cell.replace(" [", "\n[") for cell in row] for row in rows]


def longest_word(cells: Sequence[str]) -> int:
    """The width that cells need so as to wrap between words only."""
    return _width(cells, wraps=True)


def _width(cells: Sequence[str], *, wraps: bool) -> int:
    pieces = [piece for one in cells for piece in (one.split() if wraps else one.splitlines())]
    return max(map(len, pieces), default=0)
