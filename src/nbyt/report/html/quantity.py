"""Numbers with their intervals, and layouts, as HTML."""

from collections.abc import Iterable

from nbyt.report.html.element import Markup, tag
from nbyt.report.numbers import HasLayout, formatted, has_value, is_bare, known, short
from nbyt.report.numbers import mark as mark_of
from nbyt.results.values import Number


def shown(number: Number, scale: float = 1.0, unit: str = "", *, mark: bool = True) -> Markup:
    """Show value and interval, the interval in a lighter tone; say why if undetermined."""
    if not has_value(number):
        reason = number.why or "no reason given"
        return tag("span", "undetermined", class_="undetermined", title=reason)
    value, low, high = formatted(number, scale)
    interval = tag("span", f"[{low}, {high}]", class_="interval")
    return tag(
        "span", f"{mark_of(number) if mark else ''}{value}{unit} ", interval, class_="number"
    )


def shown_brief(number: Number) -> Markup:
    """Show like `shown`, but only the value where it is exact or has no interval."""
    if not is_bare(number):
        return shown(number)
    note = tag("span", "exact" if known(number) else "no interval", class_="interval")
    return tag("span", f"{mark_of(number)}{short(number.value)} ", note, class_="number")


def layout_mark(layout: HasLayout) -> Markup:
    """Show a layout in a table: N × T that does not break."""
    return split_mark(layout.envs, layout.steps)


def split_mark(envs: int, steps: int) -> Markup:
    """Show envs and steps as a layout."""
    return tag("span", f"{envs}\u202f×\u202f{steps}", class_="layout")


def big_layout(layout: HasLayout) -> Markup:
    """Show a layout in large type, with the words for N and T."""
    envs, steps = layout.envs, layout.steps
    return tag(
        "p",
        tag("span", str(envs)),
        tag("small", "env" if envs == 1 else "envs"),
        tag("span", "×", class_="times"),
        tag("span", str(steps)),
        tag("small", "step" if steps == 1 else "steps"),
        class_="big",
    )


def reasons_of(numbers: Iterable[tuple[str, int, Number]]) -> Markup | None:
    """List what is undetermined, at which T and why; each number comes with its name and its T."""
    places: dict[tuple[str, str], list[str]] = {}
    for name, steps, number in numbers:
        if not known(number):
            places.setdefault((name, number.why or "no reason given"), []).append(str(steps))
    if not places:
        return None
    lines = [
        tag("li", f"{name} at T = {', '.join(steps)}: {reason}")
        for (name, reason), steps in places.items()
    ]
    return tag("div", "Undetermined, so not drawn:", tag("ul", *lines), class_="missing")
