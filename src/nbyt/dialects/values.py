"""Single values: text, numbers and switches as users and their files write them."""

from typing import Any

from nbyt.dialects.dialect import Dialect
from nbyt.errors import DialectError, UsageError
from nbyt.numbers import Whole, is_huge, value_shown

LARGEST = 10**15
LARGEST_RATE = 1e30
AUTO = "auto"
_TRUTHS = {"true": True, "false": False, "yes": True, "no": False, "1": True, "0": False}


def read_value(dialect: Dialect, key: str, name: str, raw: Any) -> Any:
    """The value of one setting; an impossible one is refused.

    `name` is what the user wrote, which may be an old name of `key`.
    """
    if is_huge(raw):
        raise _wrong(dialect, name, raw, "a number that a float can hold")
    default = dialect.defaults.get(key)
    if isinstance(default, bool):
        return _truth(dialect, name, raw)
    role = dialect.role(key)
    if role == "learning_rate":
        return _rate(dialect, name, raw)
    if role in ("gamma", "lam"):
        return _share(dialect, name, raw)
    if str(raw).lower() == AUTO and default == AUTO:
        return AUTO
    if str(raw).lower() in ("none", "null") and key in dialect.rules.none_is_batch:
        return None
    return _whole(dialect, name, raw, least=0 if key in dialect.rules.zero_is_one else 1)


def number(raw: Any) -> float | None:
    """The number that a text or a number states, also as 1e6 or 500_000; None if it is none."""
    if isinstance(raw, bool) or not isinstance(raw, (int, float, str)):
        return None
    try:
        return float(raw)
    except (ValueError, OverflowError):
        return None


def _whole(dialect: Dialect, name: str, raw: Any, *, least: int) -> int:
    kind = Whole(least, LARGEST)
    try:
        return kind.check(raw, name) if isinstance(raw, int) else kind.read(str(raw), name)
    except UsageError:
        raise _wrong(dialect, name, raw, f"a whole number from {least} to 1e15") from None


def _share(dialect: Dialect, name: str, raw: Any) -> float:
    found = number(raw)
    if found is None or not 0 <= found <= 1:
        raise _wrong(dialect, name, raw, "a number from 0 to 1")
    return found


def _rate(dialect: Dialect, name: str, raw: Any) -> float | str:
    """A number, or the text of a schedule, which only the library can read."""
    found = number(raw)
    if found is None:
        return str(raw)[:80]
    if found != 0 and not 1 / LARGEST_RATE <= found <= LARGEST_RATE:
        raise _wrong(dialect, name, raw, "0, or a number from 1e-30 to 1e30")
    return found


def truth(raw: Any) -> bool | None:
    """The truth that a text or a value states; None if it states none."""
    return _TRUTHS.get(str(raw).lower())


def _truth(dialect: Dialect, name: str, raw: Any) -> bool:
    found = truth(raw)
    if found is None:
        raise _wrong(dialect, name, raw, "true or false")
    return found


def _wrong(dialect: Dialect, name: str, raw: Any, wanted: str) -> DialectError:
    return DialectError(
        f"{name} must be {wanted}, not {value_shown(raw if is_huge(raw) else str(raw))}",
        where=f"{name} of {dialect.id}",
        fix=f"write {name}= and {wanted}",
    )
