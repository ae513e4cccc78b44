"""Settings: what a user gave in a library's words, with its defaults filled in."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any

from nbyt.dialects.dialect import Dialect
from nbyt.dialects.values import read_value
from nbyt.dialects.vocabulary import unknown_key
from nbyt.errors import DialectError

Pair = tuple[str, Any]


@dataclass(frozen=True)
class Settings:
    """Values by the library's own names: those that were given and those it would fill in.

    `ignored` are the others that were given: they say nothing about the layout.
    """

    given: Mapping[str, Any]
    filled: Mapping[str, Any] = field(default_factory=dict)
    preset: str = ""
    ignored: Mapping[str, Any] = field(default_factory=dict)

    @property
    def values(self) -> dict[str, Any]:
        """All values together."""
        return {**self.filled, **self.given}


def settings(dialect: Dialect, pairs: Iterable[Pair], *, lenient: bool = False) -> Settings:
    """The settings that these (name, value) pairs state.

    A pair named `preset` chooses one of the library's own sets of defaults. With `lenient`, names
    that say nothing about the layout are left aside: a real configuration is full of them.
    """
    pairs = [(key.replace("-", "_"), value) for key, value in pairs]
    preset = next((str(value) for key, value in pairs if key == "preset"), "")
    named = [(dialect.aliases.get(key, key), key, value) for key, value in pairs if key != "preset"]
    known = set(dialect.keys)
    strange = [name for key, name, _ in named if key not in known and key not in dialect.other]
    if strange and not lenient:
        raise unknown_key(dialect, strange)
    given: dict[str, Pair] = {}
    for key, name, value in named:
        if key in known:
            _add(given, dialect, key, (name, value))
    kept = {key: value for key, (_, value) in given.items()}
    aside = {name: value for key, name, value in named if key not in known}
    return Settings(kept, _filled(dialect, kept, preset), preset, aside)


def _add(given: dict[str, Pair], dialect: Dialect, key: str, pair: Pair) -> None:
    """Keep a value, unless the same setting has another one already."""
    name, raw = pair
    value = read_value(dialect, key, name, raw)
    if key in given and given[key][1] != value:
        first, other = given[key]
        raise contradiction(dialect, f"{first}={other}", f"{name}={value}")
    given[key] = (name, value)


def _filled(dialect: Dialect, given: Mapping[str, Any], preset: str) -> dict[str, Any]:
    """The library's own values for what was not given."""
    if preset and preset not in dialect.presets:
        have = ", ".join(dialect.presets) or "none"
        raise DialectError(
            f"{dialect.library} has no preset '{preset}'",
            where=f"preset={preset}",
            fix=f"its presets: {have}",
        )
    own = {**dialect.defaults, **dialect.presets.get(preset, {})}
    return {
        key: value for key, value in own.items() if key not in {*given, *_replaced(dialect, given)}
    }


def _replaced(dialect: Dialect, given: Mapping[str, Any]) -> list[str]:
    """Settings whose default falls away because their alternative was given."""
    pairs = [(dialect.key(word), dialect.key(f"{word}_or")) for word in ("batch", "minibatch")]
    return [main for main, other in pairs if other and other in given]


def contradiction(dialect: Dialect, one: str, other: str) -> DialectError:
    """The refusal of two values that cannot both hold."""
    return DialectError(
        f"{one} contradicts {other}",
        where=dialect.id,
        fix="leave one of them out",
    )
