"""Numbers of checks: exact ones, and what follows from one that has an interval."""

from nbyt.studies.verdict import Number


def exact(value: float | None) -> Number:
    """A number that was calculated: its interval is itself."""
    return {"value": value, "low": value, "high": value}


def distance(number: Number, point: float) -> Number:
    """How far a number is from a point, on either side."""
    value, low, high = (number.get(name) for name in ("value", "low", "high"))
    if value is None or low is None or high is None:
        return number
    ends = sorted((abs(low - point), abs(high - point)))
    nearest = 0.0 if low <= point <= high else ends[0]
    return {**number, "value": abs(value - point), "low": nearest, "high": ends[1]}
