"""Digits of a number in print: those that its interval leaves, and never none."""

_DUST = 1e-12  # of the last decimal: what is smaller is the rounding of floats, and is 0


def rounded(x: float, decimals: int) -> str:
    """The number with so many decimals, or with two digits of its own where it would show none.

    The decimals follow from the width of an interval. A number that is small beside that width
    would print as 0 otherwise, which is another number.
    """
    unit = 10.0**-decimals
    if unit * _DUST < abs(x) < unit:
        return f"{x:.2g}"
    return f"{round(x, decimals) + 0.0:.{decimals}f}"  # -0.0 + 0.0 is 0.0
