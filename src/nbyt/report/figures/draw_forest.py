"""Draw a row for every check of a claim: number, interval, and the range that was asked for."""

from collections.abc import Sequence

from nbyt.report.figures.axes import CUT, Reach, reach, x_axis
from nbyt.report.figures.drawn import Drawn, remarks
from nbyt.report.figures.parts import figure, scatter, shaded, spread
from nbyt.report.html.element import for_chart
from nbyt.report.html.key import key
from nbyt.report.numbers import brief_words, has_value
from nbyt.results.study import Axis, Check, Titled
from nbyt.results.values import Data

MOST = 60
"""Checks that can still be read below each other."""

_ROW, _FRAME = 19, 66
_LEAST = 620  # pixels: names beside the rows, and room for their numbers
_LOOKS = {
    "yes": ("green", "circle", "lies where the claim says"),
    "no": ("vermillion", "x", "lies elsewhere"),
    "open": ("muted", "circle-open", "cannot be told"),
}
_WIDE = 100.0  # largest over smallest value from which on a log axis reads better


class Forest(Titled, frozen=True, kw_only=True, tag="forest"):
    """A row for each check of a claim; it is drawn where a claim has no figures."""

    x: Axis
    checks: tuple[Check, ...]


def forest(checks: Sequence[Check]) -> Forest:
    """Build a figure with a row for each check of a claim."""
    same = len({check.quantity for check in checks}) == 1
    x = Axis(title=checks[0].quantity if same else "measured")
    return Forest(title="", x=x, checks=tuple(checks))


def forest_drawn(frames: Sequence[Forest]) -> Drawn:
    """Draw one chart; checks without a number are named below it."""
    (one,) = frames
    checks = [check for check in one.checks if has_value(check.number)]
    missing = [
        (_label(check, one.checks), "", check.number.why or "undetermined")
        for check in one.checks
        if not has_value(check.number)
    ]
    across = _reach(checks)
    entries: list[tuple[str, str, str | None, str]] = [
        (colour, symbol, None, said)
        for says, (colour, symbol, said) in _LOOKS.items()
        if any(check.says == says for check in checks)
    ]
    if len({check.asks for check in checks}) == 1:
        entries.append(("blue", "bar", None, f"asked: {checks[0].asks}"))
    said = remarks(missing, [CUT] * across.cut)
    return Drawn([_chart(one, checks, across)], [key(*entries)], [said], least=_LEAST)


def _reach(checks: Sequence[Check]) -> Reach:
    numbers = [check.number for check in checks]
    values = [number.value for number in numbers if has_value(number)]
    lows = [number.ends[1] for number in numbers]
    positive = all(low is None or low > 0 for low in lows) and min(values) > 0
    log = positive and max(values) > _WIDE * min(values)
    bounds = [bound for check in checks for bound in check.between if bound is not None]
    return reach(numbers, [bound for bound in bounds if bound > 0 or not log], log=log)


def _chart(one: Forest, checks: Sequence[Check], across: Reach) -> Data:
    labels = [_label(check, one.checks) for check in checks]
    longest = max(len(label) for label in labels)
    return figure(
        [_rows(checks, says) for says in _LOOKS],
        _ROW * len(checks) + _FRAME,
        xaxis=x_axis(one.x.title, across),
        yaxis={
            "title": {"text": ""},
            "range": [len(checks) - 0.4, -0.6],
            "tickvals": list(range(len(checks))),
            "ticktext": [for_chart(label) for label in labels],
            "zeroline": False,
            "showgrid": False,
        },
        shapes=_asked(checks, across),
        margin={"l": min(40 + 6.9 * longest, 410), "r": 14, "t": 8, "b": 52},
    )


def _rows(checks: Sequence[Check], says: str) -> Data:
    colour, symbol, _ = _LOOKS[says]
    some = [(place, check.number) for place, check in enumerate(checks) if check.says == says]
    numbers = [number for _, number in some]
    texts = [f"{brief_words(number)}: {says}" for number in numbers]
    marker = {"color": f"@{colour}", "symbol": symbol, "size": 8}
    x, y = [number.value for number in numbers], [place for place, _ in some]
    return scatter(x, y, says, texts, marker=marker, error_x=spread(numbers, colour))


def _asked(checks: Sequence[Check], across: Reach) -> list[Data]:
    """Draw a band where the claim expects the number, in each row."""
    ends = [10.0**end if across.log else end for end in across.range]
    bands = []
    for place, check in enumerate(checks):
        low, high = check.between
        low = ends[0] if low is None or (across.log and low <= 0) else low
        high = ends[1] if high is None else high
        corners = {"x0": low, "x1": high, "y0": place - 0.5, "y1": place + 0.5}
        bands.append(shaded("@blue:0.09", xref="x", yref="y", **corners))
    return bands


def _label(check: Check, checks: Sequence[Check]) -> str:
    """Name the properties in which the checks differ, and the quantity if that differs too."""
    case = check.case
    varied = [key for key in case if len({str(other.case.get(key)) for other in checks}) > 1]
    words = [case[key] for key in varied or case]
    if len({other.quantity for other in checks}) > 1 and "number" not in case:
        words.append(check.quantity)
    return ", ".join(words)
