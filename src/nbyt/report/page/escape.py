"""Text from outside made safe for its place: HTML, a chart's labels, or JSON inside a page."""

import html
import json
import math
from typing import Any

from nbyt.store.text import plain

# In a script element these could end it, or end a line in older readers of JavaScript.
_IN_SCRIPT = {ord(c): f"\\u{ord(c):04x}" for c in "<>&\u2028\u2029"}
_DIGITS = 6


def escaped(text: str) -> str:
    """The text as HTML shows it, on one line, for content and for quoted attributes."""
    return html.escape(plain(text), quote=True)


def escaped_lines(text: str) -> str:
    """The same for several lines, which stay lines."""
    return "\n".join(escaped(line) for line in text.replace("\r\n", "\n").split("\n"))


def for_chart(text: str) -> str:
    """The text for Plotly, which reads some HTML in labels: here every letter means itself.

    The page takes a text that begins with @ for the name of a colour.
    """
    shown = html.escape(plain(text), quote=False)
    return f"&#64;{shown[1:]}" if shown.startswith("@") else shown


def embedded(value: Any) -> str:
    """The value as JSON for a script element: no letter in it can leave the element."""
    dumped = json.dumps(_finite(value), allow_nan=False, separators=(",", ":"))
    return dumped.translate(_IN_SCRIPT)


def _finite(value: Any) -> Any:
    """The value with six digits for each number, and null for one that is not finite."""
    if isinstance(value, float):
        return float(f"{value:.{_DIGITS}g}") if math.isfinite(value) else None
    if isinstance(value, dict):
        return {str(key): _finite(one) for key, one in value.items()}
    if isinstance(value, (list, tuple)):
        return [_finite(one) for one in value]
    return value
