"""Settings that change how PPO learns and no size: a library's in our words, and ours in its."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from nbyt.dialects.dialect import Dialect
from nbyt.dialects.values import number, truth

# Our value_coefficient weighs half of the critic's squared error; many libraries weigh all of it.
_HALF, _WHOLE = "value_coefficient", "squared_error_coefficient"
_OFF = ("value_clip", "target_kl")
_FROM_ZERO = ("entropy_coefficient", _HALF, _WHOLE)
_SWITCHES = ("anneal",)
SETTINGS = ("clip", "max_grad_norm", *_OFF, *_FROM_ZERO, *_SWITCHES)


@dataclass(frozen=True)
class Heard:
    """A library's setting that our PPO has too: its name there, and its value here."""

    key: str
    value: Any


def heard(dialect: Dialect, given: Mapping[str, Any]) -> dict[str, Heard]:
    """Those of a library's settings that our PPO has too, by our names."""
    found = {}
    for name, key in dialect.learning.items():
        if key not in given:
            continue
        value, known = _read(name, given[key])
        if known:
            ours = _HALF if name == _WHOLE else name
            found[ours] = Heard(key, 2 * value if name == _WHOLE else value)
    return found


def said(dialect: Dialect, values: Mapping[str, Any]) -> dict[str, Any]:
    """Our settings in a library's words, as far as it has them; a switch is not written out."""
    found = {}
    for name, key in dialect.learning.items():
        value = values.get(_HALF if name == _WHOLE else name)
        if value is not None and name not in _SWITCHES:
            found[key] = value / 2 if name == _WHOLE else value
    return found


def _read(name: str, raw: Any) -> tuple[Any, bool]:
    """Our value of a setting, and whether we can have it."""
    if name in _SWITCHES:
        return truth(raw), truth(raw) is not None
    if name in _OFF and str(raw).lower() in ("none", "null"):
        return None, True
    value = number(raw)
    if value is None or not value < float("inf"):
        return None, False
    return value, value > 0 or (value == 0 and name in _FROM_ZERO)
