"""The map over T and lambda: a table whose cells are coloured by alignment."""

from nbyt.report.page.element import Child, Markup, join, tag
from nbyt.report.page.glossary import term
from nbyt.report.page.part import Part, section, table
from nbyt.report.page.quantity import known, layout_mark, shown
from nbyt.results.values import Data


def surface_section(data: Data, stage: Data) -> Part:
    """Alignment of the objective for every T and lambda that was looked at."""
    looked = stage["closer"]
    lambdas = sorted(looked["lambdas"])
    top = _best(data, looked["layouts"])
    lead = join(
        [
            f"At {stage['name']}: ",
            term("alignment"),
            f" of the {data['objective']} for each T and ",
            term("lambda"),
            ". Shortening T and lowering lambda do similar things. A deeper colour is better; "
            "the frame marks the highest value, hatching what is undetermined.",
        ]
    )
    head: list[Child] = ["N × T", *(_column(data, lam) for lam in lambdas)]
    rows = [
        _row(data, [one for one in looked["layouts"] if one["steps"] == steps], lambdas, top)
        for steps in sorted({one["steps"] for one in looked["layouts"]})
    ]
    body = table("Alignment by T and lambda", head, rows, class_="map")
    return Part(section("map", "T against lambda", lead, body))


def _column(data: Data, lam: float) -> str:
    return f"λ = {lam:g}, in use" if lam == data["lambda"] else f"λ = {lam:g}"


def _best(data: Data, layouts: list[Data]) -> Data | None:
    seen = [one for one in layouts if known(one[data["objective"]]["alignment"])]
    return max(seen, key=lambda one: one[data["objective"]]["alignment"]["value"], default=None)


def _row(data: Data, layouts: list[Data], lambdas: list[float], top: Data | None) -> Markup:
    own = {one["lambda"]: one for one in layouts}
    cells = [_cell(data, own.get(lam), top) for lam in lambdas]
    return tag("tr", tag("th", layout_mark(layouts[0]), scope="row"), *cells)


def _cell(data: Data, one: Data | None, top: Data | None) -> Markup:
    if one is None or top is None:
        return tag("td", "not measured" if one is None else "undetermined", class_="unknown")
    number = one[data["objective"]]["alignment"]
    if not known(number):
        return tag("td", shown(number), class_="unknown")
    value, highest = number["value"], abs(top[data["objective"]]["alignment"]["value"]) or 1.0
    look = "negative" if value < 0 else "positive"
    frame = " top" if one is top else ""
    style = f"--depth:{min(1.0, abs(value) / highest):.3f}"
    return tag("td", shown(number, mark=False), class_=f"{look}{frame}", style=style)
