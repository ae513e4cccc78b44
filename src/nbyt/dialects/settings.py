"""Settings: what a user gave in a library's words, with its defaults filled in."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any

from nbyt.dialects.dialect import Dialect
from nbyt.dialects.vocabulary import unknown_key
from nbyt.errors import DialectError, UsageError
from nbyt.numbers import Number, is_huge, value_shown

LARGEST = 10**15
LARGEST_RATE = 1e30
AUTO = "auto"
_TRUTHS = {"true": True, "false": False, "yes": True, "no": False, "1": True, "0": False}


def read_value(dialect: Dialect, key: str, name: str, raw: Any) -> Any:
    """Parse the value of one setting; raise DialectError if it is invalid.

    `name` is what the user wrote, which may be an old name of `key`.
    """
    if type(raw) is int and number(raw) is None:
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
    """Return the number that a text or a number states, also as 1e6 or 500_000; else None."""
    if isinstance(raw, bool) or not isinstance(raw, (int, float, str)):
        return None
    try:
        return float(raw)
    except (ValueError, OverflowError):
        return None


def _whole(dialect: Dialect, name: str, raw: Any, *, least: int) -> int:
    kind = Number(least, LARGEST, whole=True)
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
    """Return a number, or the text of a schedule, which only the library can read."""
    found = number(raw)
    if found is None:
        return str(raw)[:80]
    if found != 0 and not 1 / LARGEST_RATE <= found <= LARGEST_RATE:
        raise _wrong(dialect, name, raw, "0, or a number from 1e-30 to 1e30")
    return found


def truth(raw: Any) -> bool | None:
    """Return the boolean that a text or a value states; else None."""
    return _TRUTHS.get(str(raw).lower())


def _truth(dialect: Dialect, name: str, raw: Any) -> bool:
    found = truth(raw)
    if found is None:
        raise _wrong(dialect, name, raw, "true or false")
    return found


def _wrong(dialect: Dialect, name: str, raw: Any, wanted: str) -> DialectError:
    message = f"{name} must be {wanted}, not {value_shown(raw if is_huge(raw) else str(raw))}"
    return DialectError(message, where=f"{name} of {dialect.id}", fix=f"write {name}= and {wanted}")


Pair = tuple[str, Any]


@dataclass(frozen=True)
class Settings:
    """Values by the library's own names: those that were given and those it would fill in.

    `ignored` are the others that were given: they say nothing about the layout. `unset` are keys
    that a file leaves to be filled in when the library runs.
    """

    given: Mapping[str, Any]
    filled: Mapping[str, Any] = field(default_factory=dict)
    preset: str = ""
    ignored: Mapping[str, Any] = field(default_factory=dict)
    unset: tuple[str, ...] = ()

    @property
    def values(self) -> dict[str, Any]:
        """Return all values together."""
        return {**self.filled, **self.given}


def settings(dialect: Dialect, pairs: Iterable[Pair], *, lenient: bool = False) -> Settings:
    """Parse (name, value) pairs into settings.

    A pair named `preset` chooses one of the library's own sets of defaults. With `lenient`, names
    that do not concern the layout are ignored: a real configuration is full of them.
    """
    pairs = [(key.replace("-", "_"), value) for key, value in pairs]
    preset = next((str(value) for key, value in pairs if key == "preset"), "")
    named = [(dialect.own(key), key, value) for key, value in pairs if key != "preset"]
    known = set(dialect.keys)
    left = [key for key, _, value in named if lenient and is_left_open(value) and key in known]
    named = [one for one in named if one[0] not in left or not is_left_open(one[2])]
    strange = [name for key, name, _ in named if key not in known and key not in dialect.other]
    if strange and not lenient:
        raise unknown_key(dialect, strange)
    given: dict[str, Pair] = {}
    for key, name, value in named:
        if key in known:
            _add(given, dialect, key, (name, value))
    kept = {key: value for key, (_, value) in given.items()}
    aside = {_shown(dialect, key, name): value for key, name, value in named if key not in known}
    unset = tuple(key for key in dict.fromkeys(left) if key not in kept)
    filled = _filled(dialect, kept, preset)
    filled = {key: value for key, value in filled.items() if key not in unset}
    return Settings(kept, filled, preset, aside, unset)


def is_left_open(value: Any) -> bool:
    """Return True if a value of a file is filled in only when the library runs."""
    return str(value) in ("-1", "???") or str(value).startswith("${")


def _shown(dialect: Dialect, key: str, name: str) -> str:
    """Return the name of a setting that is put aside: the library's own, if it has one."""
    return key if key in dialect.other else name


def _add(given: dict[str, Pair], dialect: Dialect, key: str, pair: Pair) -> None:
    """Keep a value, unless the same setting has another one already."""
    name, raw = pair
    value = read_value(dialect, key, name, raw)
    if key in given and given[key][1] != value:
        first, other = given[key]
        raise contradiction(dialect, f"{first}={other}", f"{name}={value}")
    given[key] = (name, value)


def _filled(dialect: Dialect, given: Mapping[str, Any], preset: str) -> dict[str, Any]:
    if preset and preset not in dialect.presets:
        have = ", ".join(dialect.presets) or "none"
        message = f"{dialect.library} has no preset '{preset}'"
        raise DialectError(message, where=f"preset={preset}", fix=f"its presets: {have}")
    own = {**dialect.defaults, **dialect.presets.get(preset, {})}
    return {
        key: value for key, value in own.items() if key not in {*given, *_replaced(dialect, given)}
    }


def _replaced(dialect: Dialect, given: Mapping[str, Any]) -> list[str]:
    """Return settings whose default does not apply because their alternative was given."""
    pairs = [(dialect.key(word), dialect.key(f"{word}_or")) for word in ("batch", "minibatch")]
    return [main for main, other in pairs if other and other in given]


def contradiction(dialect: Dialect, one: str, other: str) -> DialectError:
    """Return the error for two values that cannot both hold."""
    return DialectError(f"{one} contradicts {other}", where=dialect.id, fix="leave one of them out")
