"""Elements of HTML. Text is escaped unless it is Markup, and only this module makes Markup."""

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


_VOID = {"br", "hr", "input", "meta", "link"}
Value = str | int | float | bool | None


class Markup(str):
    """Text that is HTML already."""


Child = str | Markup | None


def tag(name: str, /, *children: Child, **attributes: Value) -> Markup:
    """An element. Attributes are written class_="x", aria_label="y"; None and False leave one out.

    >>> tag("p", "a < b", class_="x")
    '<p class="x">a &lt; b</p>'
    """
    start = f"<{name}{''.join(_attribute(key, value) for key, value in attributes.items())}>"
    if name in _VOID:
        return Markup(start)
    return Markup(f"{start}{join(children)}</{name}>")


def join(children: Iterable[Child]) -> Markup:
    """The children one after the other, text among them escaped."""
    return Markup("".join(_child(one) for one in children))


def code(text: str) -> Markup:
    """Lines of code that stay as they are."""
    return Markup(f"<code>{escaped_lines(text)}</code>")


def raw(text: str) -> Markup:
    """Text of our own that is no HTML but must not be escaped: scripts and styles."""
    return Markup(text)


def bullets(texts: Iterable[Child], **attributes: Value) -> Markup | None:
    """A list, or nothing for no texts."""
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
