"""Take over a user's settings from another library, as far as our PPO has them; list the rest."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from nbyt.dialects.dialect import Dialect
from nbyt.dialects.explaining import Explanation
from nbyt.dialects.settings import number, truth
from nbyt.layout import nearest_divisors

# Our value_coefficient weighs half of the critic's squared error; many libraries weigh all of it.
_HALF, _WHOLE = "value_coefficient", "squared_error_coefficient"
_OFF = ("value_clip", "target_kl")
_FROM_ZERO = ("entropy_coefficient", _HALF, _WHOLE)
_SWITCHES = ("anneal",)
SETTINGS = ("clip", "max_grad_norm", *_OFF, *_FROM_ZERO, *_SWITCHES)


@dataclass(frozen=True)
class SharedSetting:
    """A library's setting that our PPO has too: its name there, and its value here."""

    key: str
    value: Any


def shared_settings(dialect: Dialect, given: Mapping[str, Any]) -> dict[str, SharedSetting]:
    """Return those of a library's settings that our PPO has too, by our names."""
    found = {}
    for name, key in dialect.learning.items():
        if key not in given:
            continue
        value, known = _read(name, given[key])
        if known:
            ours = _HALF if name == _WHOLE else name
            found[ours] = SharedSetting(key, 2 * value if name == _WHOLE else value)
    return found


def library_settings(dialect: Dialect, values: Mapping[str, Any]) -> dict[str, Any]:
    """Return our settings in a library's words, as far as it has them; switches are left out."""
    found = {}
    for name, key in dialect.learning.items():
        value = values.get(_HALF if name == _WHOLE else name)
        if value is not None and name not in _SWITCHES:
            found[key] = value / 2 if name == _WHOLE else value
    return found


def _read(name: str, raw: Any) -> tuple[Any, bool]:
    if name in _SWITCHES:
        return truth(raw), truth(raw) is not None
    if name in _OFF and str(raw).lower() in ("none", "null"):
        return None, True
    value = number(raw)
    if value is None or not value < float("inf"):
        return None, False
    return value, value > 0 or (value == 0 and name in _FROM_ZERO)


_SIZES = ("envs", "steps", "fragment", "batch", "minibatch", "minibatches", "epochs")
# Our settings that are words of every dialect, by their names on the command line.
NUMBERS = {"gamma": "gamma", "lambda": "lam", "learning_rate": "learning_rate"}
_NORMALISE = {"minibatch": "minibatch", "batch": "batch", "none": "off"}


@dataclass(frozen=True)
class Carried:
    """Settings that were taken over, by our names, and those that were not.

    envs, steps: N and T, where T is the length over which the library computes advantages.
    settings: ours, each with the library's name for it. left: why, by the library's name.
    """

    source: Explanation
    envs: int
    steps: int
    settings: Mapping[str, SharedSetting]
    left: Mapping[str, str]

    @property
    def values(self) -> dict[str, Any]:
        """Return what was taken over: settings of PPO, and minibatch, epochs and total."""
        return {name: one.value for name, one in self.settings.items()}


def carried(source: Explanation) -> Carried:
    """Take over the settings of an explanation that our PPO has too."""
    reading = source.reading
    steps = reading.sizes.fragment
    settings = {**_sizes(source), **_numbers(source), **_switches(source)}
    settings |= shared_settings(source.dialect, reading.settings.ignored)
    return Carried(source, reading.sizes.batch // steps, steps, settings, _left(source, settings))


def _sizes(source: Explanation) -> dict[str, SharedSetting]:
    """Return the schedule; a mini-batch that does not divide the batch is made smaller."""
    reading, key = source.reading, source.dialect.key
    batch = reading.sizes.batch // reading.sizes.fragment * reading.sizes.fragment
    size = min(max(reading.minibatch, 1), batch)
    size = size if batch % size == 0 else nearest_divisors(batch, size)[0]
    found = {
        "minibatch": SharedSetting(key("minibatch") or key("minibatches"), size),
        "epochs": SharedSetting(key("epochs"), reading.sizes.epochs),
    }
    if set(source.dialect.words["total"]) & set(reading.settings.given) and reading.total_steps:
        found["total"] = SharedSetting(key("total"), reading.total_steps)
    return found


def _numbers(source: Explanation) -> dict[str, SharedSetting]:
    values, key = source.reading.settings.values, source.dialect.key
    known = {ours: (key(word), values.get(key(word))) for ours, word in NUMBERS.items()}
    return {
        ours: SharedSetting(name, value)
        for ours, (name, value) in known.items()
        if isinstance(value, int | float) and (value > 0 or ours != "learning_rate")
    }


def _switches(source: Explanation) -> dict[str, SharedSetting]:
    """Return over what advantages are normalised, where the library's code was read."""
    rule = source.reading.rules.normalise
    keys = [one.key for one in source.dialect.switches if "normalise" in one.rules]
    if rule not in _NORMALISE:
        return {}
    return {"normalise_advantages": SharedSetting(next(iter(keys), ""), _NORMALISE[rule])}


def _left(source: Explanation, settings: Mapping[str, SharedSetting]) -> dict[str, str]:
    reading, dialect = source.reading, source.dialect
    sizes = {key for word in _SIZES for key in dialect.words.get(word, ())}
    sizes |= {key for word in dialect.words if word.endswith("_or") for key in dialect.words[word]}
    known = {one.key for one in settings.values()} | sizes | set(dialect.derived)
    known |= set(dialect.words["total"]) if "total" in settings else set()
    given = {**reading.settings.given, **reading.settings.ignored}
    left = {f"{key}={value}": "" for key, value in given.items() if key not in known}
    minibatch = settings["minibatch"]
    if minibatch.key and minibatch.value != reading.minibatch:
        why = f"{minibatch.value} is used: {reading.minibatch} does not divide the batch"
        left[f"{minibatch.key}={reading.settings.values.get(minibatch.key)}"] = why
    return left
