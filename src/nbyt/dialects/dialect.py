"""Dialect: one library's words and rules, as its file in `data` states them."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cache
from typing import Any

from nbyt.dialects import naming, tables

Words = Mapping[str, tuple[str, ...]]


@dataclass(frozen=True)
class Rules:
    """The named rules that a library follows; each rule is implemented once."""

    collect: str
    ragged: str
    ragged_says: str
    mixing: str
    reshuffle: bool
    normalise: str
    one_sample: str
    time_limits: str
    updates: str
    total: str = "steps"
    fixed_envs: int = 0
    least_minibatch: int = 1
    minibatch_within_batch: bool = False
    zero_is_one: tuple[str, ...] = ()
    none_is_batch: tuple[str, ...] = ()


@dataclass(frozen=True)
class Switch:
    """A setting that, at one value, replaces some of the rules."""

    key: str
    value: bool | int
    rules: Mapping[str, Any]


@dataclass(frozen=True)
class Check:
    """A demand of the library: the product of `of` is a multiple of the product of `by`."""

    of: tuple[str, ...]
    by: tuple[str, ...]
    when: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True)
class Paste:
    """A template for settings that can be pasted into a user's own files.

    classes: values that are names of classes, which code writes without quotes.
    """

    text: str
    line: str = ""
    prefix: str = ""
    hyphens: bool = True
    repeat: tuple[str, ...] = ()
    classes: tuple[str, ...] = ()


@dataclass(frozen=True)
class Replay:
    """The words of a library's replay agent."""

    algorithm: str
    minibatch: str
    capacity: str
    start: str
    frequency: tuple[str, ...]
    replacement: str
    note: str = ""
    defaults: Mapping[str, Any] = field(default_factory=dict)

    @property
    def keys(self) -> tuple[str, ...]:
        """Return every setting of the replay agent."""
        return (self.minibatch, self.capacity, self.start, *self.frequency)


@dataclass(frozen=True)
class Choice:
    """A setting whose values, as text, choose between named ways to do something."""

    key: str
    values: Mapping[str, str]


@dataclass(frozen=True)
class EarlyStop:
    """The setting whose value, times a factor, is the KL at which an update's epochs stop."""

    key: str
    factor: float


@dataclass(frozen=True)
class Dialect:
    """The words of one library: ours to theirs, several of theirs multiply.

    `learning` has those that change no size: our settings of PPO to the library's. `called` are
    other names of the library; `where` says where it sets what it has no default for; `framework`
    has the names that frameworks around it give its settings. `learning_defaults` are by our
    names, also of what cannot be set; `apart` says what no setting of another library can copy;
    `off` is the value that switches a number off. `live` is `counted` where the library itself was
    run and its updates counted, or the reason why not.
    """

    id: str
    library: str
    algorithm: str
    version: str
    source: tuple[str, ...]
    words: Words
    rules: Rules
    paste: Paste
    notes: tuple[str, ...] = ()
    other: tuple[str, ...] = ()
    learning: Mapping[str, str] = field(default_factory=dict)
    derived: Mapping[str, str] = field(default_factory=dict)
    aliases: Mapping[str, str] = field(default_factory=dict)
    defaults: Mapping[str, Any] = field(default_factory=dict)
    presets: Mapping[str, Mapping[str, Any]] = field(default_factory=dict)
    switches: tuple[Switch, ...] = ()
    checks: tuple[Check, ...] = ()
    replay: Replay | None = None
    script: str = ""
    under: tuple[str, ...] = ("",)
    called: tuple[str, ...] = ()
    where: Mapping[str, str] = field(default_factory=dict)
    learning_defaults: Mapping[str, Any] = field(default_factory=dict)
    choices: Mapping[str, Choice] = field(default_factory=dict)
    early_stop: EarlyStop | None = None
    apart: tuple[str, ...] = ()
    off: float | None = None
    read_on: str = ""
    live: str = ""
    framework: Mapping[str, str] = field(default_factory=dict)

    def key(self, word: str) -> str:
        """Return the setting that carries one of our words, or an empty text."""
        return self.words.get(word, ("",))[0]

    def role(self, key: str) -> str:
        """Return our word for one of the library's settings, or an empty text."""
        carriers = [word for word, keys in self.words.items() if keys[0] == key]
        factors = [word for word, keys in self.words.items() if key in keys]
        found = next(iter([*carriers, *factors]), self.derived.get(key, ""))
        return found.removesuffix("_or")

    @property
    def keys(self) -> tuple[str, ...]:
        """Return every setting that changes the layout or a rule, each once."""
        named = [key for keys in self.words.values() for key in keys]
        return tuple(dict.fromkeys([*named, *self.derived, *self.defaults]))

    def knows(self, key: str) -> bool:
        """Return True if a setting of that name belongs to the library, however it is nested."""
        own = self.own(key)
        return own in self.keys or own in self.other

    def own(self, name: str) -> str:
        """Return the library's own key for a name as people write it: +agent.gamma."""
        key = name.lstrip("+").replace("-", "_")
        place, _, last = key.rpartition(".")
        if place in self.under and key not in self.aliases and key not in self.keys:
            key = last
        return self.aliases.get(key, self.framework.get(key, key))

    def rules_at(self, values: Mapping[str, Any]) -> Rules:
        """Return the rules that hold with these settings."""
        rules = self.rules
        for switch in self.switches:
            if values.get(switch.key) == switch.value:
                rules = replace(rules, **switch.rules)
        return rules


def names() -> list[str]:
    """List the ids of all dialects: the names of their files."""
    return list(tables.ids())


def every() -> list[Dialect]:
    """Load all dialects, by id."""
    return [_loaded(name) for name in names()]


def load(name: str, keys: Sequence[str] = ()) -> Dialect:
    """Load the dialect that a name means; the error for an unknown one names the nearest.

    keys: names of settings, which decide where a framework trains with several libraries.
    """
    if name in names():
        return _loaded(name)
    found = meant(name)
    if not found:
        raise naming.unknown(name, called())
    known = {one: sum(_loaded(one).knows(key) for key in keys) for one in found}
    best = [one for one in found if known[one] == max(known.values())]
    if len(best) > 1:
        raise naming.several(name, found)
    return _loaded(best[0])


def meant(name: str) -> list[str]:
    """Return the ids of the libraries that a name can mean."""
    return naming.meant(name, called())


@cache
def called() -> dict[str, tuple[str, ...]]:
    """Return the other names of every library, by id."""
    return {one: (_loaded(one).library, *_loaded(one).called) for one in names()}


@cache
def _loaded(name: str) -> Dialect:
    return _built(name, tables.table(name))


def _built(name: str, table: dict[str, Any]) -> Dialect:
    """Build a dialect from its table; a field that no class knows is an error."""
    made = {key: _frozen(value) for key, value in table.items()}
    made["words"] = {word: _names(value) for word, value in table["words"].items()}
    made["rules"] = Rules(**{key: _frozen(value) for key, value in table["rules"].items()})
    made["paste"] = Paste(**{key: _frozen(value) for key, value in table["paste"].items()})
    made["switches"] = tuple(Switch(**switch) for switch in table.get("switches", []))
    checks = [
        {key: _frozen(value) for key, value in one.items()} for one in table.get("checks", [])
    ]
    made["checks"] = tuple(Check(**check) for check in checks)
    if "replay" in table:
        made["replay"] = Replay(**{key: _frozen(value) for key, value in table["replay"].items()})
    made["choices"] = {name: Choice(**one) for name, one in table.get("choices", {}).items()}
    made["early_stop"] = EarlyStop(**made["early_stop"]) if made.get("early_stop") else None
    made["under"] = tuple(made.pop("file", {}).get("under", ("",)))
    return Dialect(id=name, **made)


def _names(value: str | list[str]) -> tuple[str, ...]:
    return (value,) if isinstance(value, str) else tuple(value)


def _frozen(value: Any) -> Any:
    return tuple(value) if isinstance(value, list) else value
