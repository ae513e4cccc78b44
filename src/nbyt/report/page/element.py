"""Elements of HTML. Text is escaped unless it is Markup, and only this module makes Markup."""

from collections.abc import Iterable

from nbyt.report.page.escape import escaped, escaped_lines

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
