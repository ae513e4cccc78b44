"""How a library learns, beside its layout: learning rate, clipping, coefficients, early stop."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from nbyt.dialects.dialect import Dialect
from nbyt.dialects.reading import Reading
from nbyt.dialects.settings import number

OFF = "off"
AS_CLIP = "as clip"
_HALF, _WHOLE = "value_coefficient", "squared_error_coefficient"
# What each is called in a sentence, in the order in which they are told.
MEANING = {
    "learning_rate": "learning rate",
    "schedule": "learning rate schedule",
    "clip": "clip range",
    "value_clip": "value clipping",
    "entropy_coefficient": "entropy coefficient",
    "value_coefficient": "value coefficient",
    "max_grad_norm": "largest gradient norm",
    "target_kl": "early stop",
}
_NONE = ("none", "null", "off", "false")


@dataclass(frozen=True)
class Part:
    """One part of how a library learns.

    value: a number or a word; None where it was not read. key: the library's setting, if it has
    one. shown: as the library writes it. is_given: the user set it.
    """

    value: Any
    key: str = ""
    shown: str = ""
    is_given: bool = False


def parts(dialect: Dialect, given: Mapping[str, Any]) -> dict[str, Part]:
    """Return every part of how a library learns with these settings, by our names."""
    found = {name: _part(dialect, name, given) for name in MEANING}
    text = str(found["learning_rate"].value)
    if text.startswith("lin_"):  # as RL-Zoo writes a linear schedule
        rate = found["learning_rate"]
        found["learning_rate"] = Part(number(text[4:]), rate.key, rate.shown, is_given=True)
        found["schedule"] = Part("linear", rate.key, rate.shown, is_given=True)
    clip = found["clip"].value
    if found["value_clip"].value == AS_CLIP:
        one = found["value_clip"]
        found["value_clip"] = Part(clip, one.key, one.shown, one.is_given)
    return found


def parts_of(reading: Reading) -> dict[str, Part]:
    """Return every part of how a library learns, as some settings of it say."""
    settings = reading.settings
    return parts(reading.dialect, {**settings.ignored, **settings.values})


def _part(dialect: Dialect, name: str, given: Mapping[str, Any]) -> Part:
    """Return one part: what was given, or what the library does of itself."""
    choice, key = dialect.choices.get(name), setting_of(dialect, name)
    if choice and choice.key in given:
        raw = given[choice.key]
        value = _chosen(choice.values, raw)
        return Part(value, choice.key, f"{choice.key}={raw}", is_given=True)
    if key and key in given:
        value = ours(dialect, name, given[key])
        return Part(value, key, f"{key}={given[key]}", is_given=True)
    value = default_of(dialect, name)
    return Part(value, key or (choice.key if choice else ""))


def default_of(dialect: Dialect, name: str) -> Any:
    """Return what a library does of itself, in our measure; None where it was not read."""
    known = dialect.learning_defaults
    if name == _HALF and _WHOLE in known:
        return 2 * known[_WHOLE]
    value = known.get(name)
    if name == "target_kl" and dialect.early_stop and isinstance(value, float):
        return value * dialect.early_stop.factor
    return value


def setting_of(dialect: Dialect, name: str) -> str:
    """Return the library's setting for a number of ours; empty if it has none."""
    if name == "learning_rate":
        return dialect.key("learning_rate")
    if name == "target_kl":
        return dialect.early_stop.key if dialect.early_stop else ""
    if name == _HALF:
        return dialect.learning.get(_HALF, dialect.learning.get(_WHOLE, ""))
    return dialect.learning.get(name, "")


def ours(dialect: Dialect, name: str, raw: Any) -> Any:
    """Return a library's value in our measure: off, a number, or the text of a schedule."""
    if str(raw).lower() in _NONE:
        return OFF
    value = number(raw)
    if value is None:
        return str(raw)[:80]
    if value == 0 and name in ("value_clip", "target_kl", "max_grad_norm"):
        return OFF
    return value * _factor(dialect, name)


def theirs(dialect: Dialect, name: str, value: Any) -> Any:
    """Return a value of ours in a library's measure."""
    if value == OFF:
        return dialect.off
    return value / _factor(dialect, name)


def theirs_of(dialect: Dialect, name: str, value: Any) -> Any:
    """Return a value as the library writes it; words stay as they are."""
    return theirs(dialect, name, value) if isinstance(value, float) else value


def _factor(dialect: Dialect, name: str) -> float:
    if name == "target_kl" and dialect.early_stop:
        return dialect.early_stop.factor
    whole = _WHOLE in dialect.learning or _WHOLE in dialect.learning_defaults
    return 2.0 if name == _HALF and whole else 1.0


def _chosen(values: Mapping[str, str], raw: Any) -> str | None:
    named = [word for key, word in values.items() if key.lower() == str(raw).lower()]
    return named[0] if named else None


def is_same(one: Any, other: Any) -> bool:
    """Return True if two values do the same."""
    if isinstance(one, float) and isinstance(other, float):
        return abs(one - other) <= 1e-9 * max(abs(one), abs(other))
    return bool(one == other)


def written(dialect: Dialect, name: str, have: Mapping[str, Part]) -> dict[str, Any] | None:
    """Return the settings of a library that give it a part; None if it cannot have it."""
    value, choice = have[name].value, dialect.choices.get(name)
    if choice:
        wanted = AS_CLIP if name == "value_clip" and is_same(value, have["clip"].value) else value
        keys = [key for key, word in choice.values.items() if word == wanted]
        return {choice.key: _plain(keys[0])} if keys else None
    key = setting_of(dialect, name)
    if not key or not (value == OFF or isinstance(value, float)):
        return None
    if value == OFF and default_of(dialect, name) != OFF:
        return None if name == "max_grad_norm" else {key: theirs(dialect, name, value)}
    return {key: theirs(dialect, name, value)}


def _plain(text: str) -> Any:
    return {"true": True, "false": False}.get(text, text)
