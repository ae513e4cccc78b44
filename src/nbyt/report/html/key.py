"""The key of a chart in HTML: it wraps and never covers data."""

from nbyt.report.html.element import Child, Markup, raw, tag

_SYMBOLS = {
    "circle": '<circle cx="14" cy="7" r="4" fill="currentColor"></circle>',
    "square": '<path d="M10.5 3.5h7v7h-7z" fill="currentColor"></path>',
    "triangle-up": '<path d="M14 2.5l4.5 8h-9z" fill="currentColor"></path>',
    "triangle-down": '<path d="M14 11l4.5-8h-9z" fill="none" stroke="currentColor"></path>',
    "diamond": '<path d="M14 2l5 5-5 5-5-5z" fill="currentColor"></path>',
    "diamond-open": (
        '<path d="M14 1.5l5.5 5.5-5.5 5.5-5.5-5.5z" fill="none" stroke="currentColor"'
        ' stroke-width="2"></path>'
    ),
    "cross": '<path d="M10 3l8 8M18 3l-8 8" stroke="currentColor" stroke-width="1.5"></path>',
    "star": (
        '<path d="M14 0.5l1.9 4.4 4.8.4-3.6 3.1 1.1 4.7-4.2-2.5-4.2 2.5 1.1-4.7-3.6-3.1 4.8-.4z"'
        ' fill="currentColor"></path>'
    ),
    "circle-open": '<circle cx="14" cy="7" r="4" fill="none" stroke="currentColor"></circle>',
    "square-open": '<path d="M10.5 3.5h7v7h-7z" fill="none" stroke="currentColor"></path>',
    "x": '<path d="M10 3l8 8M18 3l-8 8" stroke="currentColor" stroke-width="2.4"></path>',
    "bar": '<path d="M8 2h12v10h-12z" fill="currentColor"></path>',
    "hatched": (
        '<path d="M8 2h12v10h-12z" fill="currentColor"></path>'
        '<path d="M8 8l6-6M9 12l10-10M15 12l5-5" stroke="var(--ink)"></path>'
    ),
    "dotted": (
        '<path d="M8 2h12v10h-12z" fill="currentColor"></path>'
        '<path d="M10 5h9M10 9h9" stroke="var(--card)" stroke-width="2" stroke-dasharray="2 2">'
        "</path>"
    ),
    "crossed": (
        '<path d="M8 2h12v10h-12z" fill="currentColor"></path>'
        '<path d="M8 2l10 10M12 2l8 8M18 2l-10 10M20 4l-8 8" stroke="var(--card)"></path>'
    ),
    "striped": (
        '<path d="M8 2h12v10h-12z" fill="currentColor"></path>'
        '<path d="M8 5h12M8 9h12" stroke="var(--card)"></path>'
    ),
    "arrow": (
        '<path d="M1 7h20" stroke="currentColor" stroke-width="2.4"></path>'
        '<path d="M19 3l8 4-8 4z" fill="currentColor"></path>'
    ),
    "none": "",
}
_DASHES = {
    "solid": None,
    "dash": "6 3",
    "dot": "2 3",
    "dashdot": "7 3 2 3",
    "longdash": "11 4",
    "longdashdot": "11 3 2 3",
}


def key(*entries: tuple[str, str, str | None, Child]) -> Markup:
    """Build a key from entries of (colour, symbol, dash or None, words)."""
    items = [tag("li", _sample(*entry[:3]), entry[3]) for entry in entries]
    return tag("ul", *items, class_="key")


def _sample(colour: str, symbol: str, dash: str | None) -> Markup:
    line = raw("")
    if dash is not None:
        line = tag(
            "line",
            x1=0,
            x2=28,
            y1=7,
            y2=7,
            stroke="currentColor",
            stroke_width=2,
            stroke_dasharray=_DASHES[dash],
        )
    style = f"color:var(--{colour})"
    shape = raw(_SYMBOLS[symbol])
    # Lower case: HTML's parser gives the attribute of SVG its capital letter back.
    return tag("svg", line, shape, viewbox="0 0 28 14", aria_hidden="true", style=style)
