"""HTML elements. Text is escaped unless it is Markup, and only this module creates Markup."""

import html
import json
import math
from collections.abc import Iterable
from typing import Any

from nbyt.store.text import plain

# In a script element these could end it, or end a line in older readers of JavaScript.
_IN_SCRIPT = {ord(c): f"\\u{ord(c):04x}" for c in "<>&\u2028\u2029"}
_DIGITS = 6


def escaped(text: str) -> str:
    """Escape text for content and for quoted attributes, on one line."""
    return html.escape(plain(text), quote=True)


def escaped_lines(text: str) -> str:
    """Escape text of several lines, which stay lines."""
    return "\n".join(escaped(line) for line in text.replace("\r\n", "\n").split("\n"))


def for_chart(text: str) -> str:
    """Escape text for Plotly, which reads some HTML in labels: here every letter means itself.

    The page takes a text that begins with @ for the name of a colour.
    """
    shown = html.escape(plain(text), quote=False)
    return f"&#64;{shown[1:]}" if shown.startswith("@") else shown


def embedded(value: Any) -> str:
    """Encode a value as JSON for a script element: no letter in it can leave the element."""
    dumped = json.dumps(_finite(value), allow_nan=False, separators=(",", ":"))
    return dumped.translate(_IN_SCRIPT)


def _finite(value: Any) -> Any:
    """Round every number to six digits, and turn those that are not finite into null."""
    if isinstance(value, float):
        return float(f"{value:.{_DIGITS}g}") if math.isfinite(value) else None
    if isinstance(value, dict):
        return {str(key): _finite(one) for key, one in value.items()}
    if isinstance(value, (list, tuple)):
        return [_finite(one) for one in value]
    return value


_VOID = {"br", "hr", "input", "meta", "link"}
Value = str | int | float | bool | None


class Markup(str):
    """Text that is HTML already."""


Child = str | Markup | None


def tag(name: str, /, *children: Child, **attributes: Value) -> Markup:
    """Build an element. Write attributes as class_="x", aria_label="y"; None and False omit one.

    >>> tag("p", "a < b", class_="x")
    '<p class="x">a &lt; b</p>'
    """
    start = f"<{name}{''.join(_attribute(key, value) for key, value in attributes.items())}>"
    if name in _VOID:
        return Markup(start)
    return Markup(f"{start}{join(children)}</{name}>")


def join(children: Iterable[Child]) -> Markup:
    """Join the children, with the text among them escaped."""
    return Markup("".join(_child(one) for one in children))


def code(text: str) -> Markup:
    """Build a code element whose lines stay as they are."""
    return Markup(f"<code>{escaped_lines(text)}</code>")


def raw(text: str) -> Markup:
    """Mark our own scripts and styles, which must not be escaped, as Markup."""
    return Markup(text)


def bullets(texts: Iterable[Child], **attributes: Value) -> Markup | None:
    """Build a list; None for no texts."""
    items = [tag("li", one) for one in texts]
    return tag("ul", *items, **attributes) if items else None


def _child(child: Child) -> str:
    if child is None:
        return ""
    return child if isinstance(child, Markup) else escaped(child)


def _attribute(key: str, value: Value) -> str:
    name = key.rstrip("_").replace("_", "-")
    if value is None or value is False:
        return ""
    return f" {name}" if value is True else f' {name}="{escaped(str(value))}"'
