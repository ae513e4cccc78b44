"""Numbers with their intervals as text: one rule for digits, several widths to print them in.

Decimals leave two digits of the interval's width, so that no digit is printed that it denies.
"""

import math
from collections.abc import Sequence
from typing import Protocol, TypeGuard

from msgspec import UnsetType
from msgspec.structs import replace

from nbyt.results.prior import Loss
from nbyt.results.values import Estimate, Known, Number, Valued
from nbyt.stats.estimate import printable, rounded

WIDTH = 80
_LARGE = 1e6
_MOST_DECIMALS = 5
_SMALL_COUNT = 100  # samples below which every digit counts


class HasLayout(Protocol):
    """What has the sizes of a layout."""

    @property
    def envs(self) -> int: ...

    @property
    def steps(self) -> int: ...


def has_value(number: Number | UnsetType | None) -> TypeGuard[Valued]:
    """Return True if there is a value to draw."""
    return isinstance(number, Number) and number.ends[0] is not None


def known(number: Number | UnsetType | None) -> TypeGuard[Known]:
    """Return True if there is a value with both ends of its interval."""
    return isinstance(number, Number) and None not in number.ends


def has_interval(number: Number) -> TypeGuard[Known]:
    """Return True if there is an interval that has a width."""
    return known(number) and number.low < number.high


def is_bare(number: Number) -> TypeGuard[Valued]:
    """Return True for a value that is exact, or that has no interval at all."""
    value, low, high = number.ends
    return value is not None and (low, high) in ((None, None), (value, value))


def percent(part: Estimate | Loss, whole: float = 1.0) -> str:
    """Format a share of a whole with its interval, such as 31 % [27, 36]."""
    if part.value is None or not whole:
        return "an undetermined share"
    ends = (part.value, part.low, part.high)
    value, low, high = ("?" if x is None else rounded(100 * x / whole, 0) for x in ends)
    return f"{value} % [{low}, {high}]"


def divided(number: Number, whole: Number) -> Number:
    """Return a number as a share of another; undetermined where either is."""
    if not known(number) or not known(whole) or not whole.value:
        return Number(value=None, low=None, high=None, reason=number.reason)
    value, low, high = (end / whole.value for end in (number.value, number.low, number.high))
    return replace(number, value=value, low=low, high=high)


def words(number: Number, scale: float = 1.0, unit: str = "") -> str:
    """Format value and interval, such as 0.31 [0.27, 0.36]; say why if undetermined."""
    if not has_value(number):
        return f"undetermined: {number.why}" if number.why else "undetermined"
    value, low, high = formatted(number, scale)
    return f"{mark(number)}{value}{unit} [{low}, {high}]"


def brief_words(number: Number) -> str:
    """Format like `words`, but only the value where it is exact or has no interval."""
    return mark(number) + short(number.value) if is_bare(number) else words(number)


def formatted(number: Number, scale: float = 1.0) -> list[str]:
    """Format value, low and high with the decimals that the interval's width leaves."""
    scaled = _scaled(number, scale)
    size = max(abs(x) for x in scaled if x is not None)
    decimals = _decimals(scaled)
    if decimals > _MOST_DECIMALS or size >= _LARGE:
        return ["?" if x is None else f"{x:.3g}" for x in scaled]
    texts = ("?" if x is None else rounded(x, max(0, decimals)) for x in scaled)
    return [text.replace("-", "\u2212") for text in texts]


def mark(number: Number) -> str:
    """Return the sign before a number whose interval is approximate."""
    return "≈\u202f" if number.approximate else ""


def short(value: float, digits: int = 4) -> str:
    """Format a value in significant digits; a whole number below a million keeps all of them."""
    whole = 10**digits <= abs(value) < _LARGE
    text = f"{value:.0f}" if whole else f"{value:.{digits}g}"
    return text.replace("-", "\u2212").replace("e+0", "e").replace("e\u22120", "e\u2212")


def samples_words(number: Number, scale: float = 1.0) -> str:
    """Format samples, such as ≈ 12,300 [9,900 to 15,400]; other digits are noise."""
    if not has_value(number) or scale * abs(number.value) < _SMALL_COUNT:
        return words(number, scale)
    value, low, high = _scaled(number, scale)
    assert value is not None
    width = value / 10 if low is None or high is None else high - low
    texts = [None if end is None else _count(end, width) for end in (low, high)]
    if low is not None and high is not None:
        interval = f"{texts[0]} to {texts[1]}"
    else:
        interval = f"{texts[0]} or more" if texts[0] else f"up to {texts[1]}" if texts[1] else ""
    return f"{mark(number)}{_count(value, width)} [{interval or 'no interval'}]"


def share(value: float | None) -> str:
    """Format a share that is counted, not estimated, in per cent."""
    if value is None or not math.isfinite(value):
        return "undetermined"
    return "< 1 %" if 0 < value < 0.01 else f"{100 * value:.0f} %"


def both(number: Number) -> str:
    """Format value and interval for a terminal, in three significant digits."""
    if number.value is None:
        return "undetermined"
    value, low, high = ("?" if x is None else f"{x:.3g}" for x in _scaled(number, 1.0))
    return f"{'~' if number.approximate else ''}{value} [{low}, {high}]"


def cell(number: Number, power: int = 0) -> str:
    """Format a number for a narrow column, such as .31 [.27 .36]; a dash if there is no value."""
    if number.value is None:
        return "-"
    scaled = _scaled(number, 10.0**-power)
    # A third decimal only for small numbers.
    most = 3 if max(abs(x) for x in scaled if x is not None) < 0.1 else 2
    decimals = max(0, min(most, _decimals(scaled)))
    value, low, high = ("?" if x is None else _narrow(x, decimals) for x in scaled)
    return f"{value} [{low} {high}]"


def power_of_ten(numbers: Sequence[Number]) -> int:
    """Return the power to divide a column by; 0 if its numbers read well as they are."""
    sizes = [abs(n.value) for n in numbers if n.value]
    exponent = math.floor(math.log10(max(sizes))) if sizes else 0
    return 0 if -2 <= exponent <= 2 else exponent


def fitted(
    heads: Sequence[str], rows: Sequence[Sequence[str]], *, padding: int = 1
) -> list[list[str]]:
    """Put each interval under its value if the table needs more than 80 columns otherwise.

    heads: the columns' titles; a column without one holds remarks, which wrap between words.
    padding: what separates two columns.
    """
    columns = [[head, *cells] for head, cells in zip(heads, zip(*rows, strict=True), strict=True)]
    widths = [_width(column, wraps=not column[0]) + padding for column in columns]
    fits = sum(widths) <= WIDTH
    return [[cell if fits else cell.replace(" [", "\n[") for cell in row] for row in rows]


def longest_word(cells: Sequence[str]) -> int:
    """Return the width that cells need to wrap between words only."""
    return _width(cells, wraps=True)


def layout_name(layout: HasLayout) -> str:
    """Name a layout as people say it, such as 64x32."""
    return f"{layout.envs}x{layout.steps}"


def _scaled(number: Number, scale: float) -> list[float | None]:
    value, low, high = (None if x is None else float(x) for x in number.ends)
    value = None if value is None else printable(value, low, high)
    return [None if x is None else scale * x for x in (value, low, high)]


def _decimals(ends: Sequence[float | None]) -> int:
    """Leave two digits of the interval's width, or of the largest end if it has none."""
    _, low, high = ends
    width = 0.0 if low is None or high is None else abs(high - low)
    size = max(abs(x) for x in ends if x is not None)
    return 1 - math.floor(math.log10(width or size or 1.0))


def _count(value: float, width: float) -> str:
    """Round samples to two digits of the interval's width or of their own."""
    step = _step(width) if abs(value) >= _step(width) else _step(abs(value))
    text = f"{round(value / step) * step:,}" if abs(value) >= 1 else rounded(value, 0)
    return text.replace("-", "\u2212")


def _step(size: float) -> int:
    return int(10 ** max(math.floor(math.log10(size)) - 1, 0)) if size > 0 else 1


def _narrow(x: float, decimals: int) -> str:
    """Format with decimals, or with an exponent if that would take more than five letters."""
    plain = _without_zero(rounded(x, decimals))
    if len(plain) <= 5:
        return plain
    return f"{x:.0e}".replace("e+0", "e").replace("e+", "e").replace("e-0", "e-")


def _without_zero(text: str) -> str:
    return text.replace("0.", ".", 1) if text.lstrip("-").startswith("0.") else text


def _width(cells: Sequence[str], *, wraps: bool) -> int:
    pieces = [piece for text in cells for piece in (text.split() if wraps else text.splitlines())]
    return max(map(len, pieces), default=0)


def listed(texts: Sequence[str]) -> str:
    """Join words with commas, and an "and" before the last."""
    return texts[0] if len(texts) == 1 else f"{', '.join(texts[:-1])} and {texts[-1]}"
