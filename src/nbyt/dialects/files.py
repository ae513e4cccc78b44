"""Read settings from configuration files, wherever they are nested; nothing is executed."""

import configparser
import json
import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import yaml

from nbyt.dialects.commands import flags, looks_like_command
from nbyt.dialects.dialect import Dialect
from nbyt.dialects.settings import Pair
from nbyt.errors import DialectError
from nbyt.user_file import read_text

_DOCUMENTS = (".json", ".yml", ".yaml", ".ini", ".cfg", ".gin")
_DEEPEST = 3
_MOST_NODES = 10_000
_MOST_ALIASES = 500
_BINDING = re.compile(r"^([A-Za-z_][\w./@]*)[ \t]*=[ \t]*([^#\n]*)", re.MULTILINE)
_MOST_ENTRIES = 2_000


def read_file(dialect: Dialect, path: Path, entry: str | None = None) -> list[Pair]:
    """Read the (name, value) pairs of a configuration file.

    `entry` picks one of several, as in RL-Zoo's files, where each environment has its own.
    """
    found = _document(dialect, path)
    if isinstance(found, list):
        return found
    return _pairs(dialect, _chosen(dialect, found, entry, str(path)))


def read_entries(dialect: Dialect, path: Path) -> dict[str, list[Pair]]:
    """Read every entry of a configuration file that has settings of the library, by name."""
    found = _document(dialect, path)
    if isinstance(found, list):
        return {"": found}
    if _speaks(dialect, found):
        return {"": _pairs(dialect, found)}
    entries = _entries(found)
    if not _speaking(dialect, entries):
        entries = _deeper(dialect, entries)
    return {name: _pairs(dialect, entries[name]) for name in _speaking(dialect, entries)}


def _document(dialect: Dialect, path: Path) -> Mapping[str, Any] | list[Pair]:
    """Return the content of a file: a mapping, or the settings of its one command line."""
    where, suffix = str(path), path.suffix.lower()
    try:
        text = read_text(path)
        if suffix not in _DOCUMENTS and looks_like_command(text):
            return flags(dialect, text, where)
        found = parsed(text, suffix)
    except ValueError as error:
        raise _unreadable(where, str(error)[:200]) from None
    if not isinstance(found, Mapping):
        raise _unreadable(where, "it holds no settings by name")
    return found


def _entries(found: Mapping[str, Any]) -> dict[str, Mapping]:
    return {str(key): value for key, value in found.items() if isinstance(value, Mapping)}


def _chosen(dialect: Dialect, found: Mapping[str, Any], entry: str | None, where: str) -> Mapping:
    entries = _entries(found)
    if not _speaks(dialect, found) and not _speaking(dialect, entries) and entry not in entries:
        entries = _deeper(dialect, entries)
    useful = _speaking(dialect, entries)
    if entry is not None:
        useful, found = [entry], entries.get(entry, {})
    elif not _speaks(dialect, found) and len(useful) == 1:
        found = entries[useful[0]]
    if _speaks(dialect, found):
        return found
    if entry is not None and entry not in entries:
        raise DialectError(f"no entry '{entry}' in {where}", where="--entry", fix=_listed(entries))
    if len(useful) > 1:
        fix = f"--entry NAME; {_listed(entries)}"
        raise DialectError(f"{where} has several entries", where="--file", fix=fix)
    message = f"{where} has no settings of {dialect.library}"
    raise DialectError(message, where="--file", fix=f"`nbyt dialects {dialect.id}` lists them")


def _speaking(dialect: Dialect, entries: Mapping[str, Mapping]) -> list[str]:
    return [name for name, value in entries.items() if _speaks(dialect, value)]


def _deeper(dialect: Dialect, entries: Mapping[str, Mapping]) -> dict[str, Mapping]:
    """Return the entries below these, by their own names, at the first depth that has settings."""
    here: dict[str, Mapping] = dict(entries)
    for _ in range(_DEEPEST):
        pairs = [pair for value in here.values() for pair in value.items()][:_MOST_ENTRIES]
        here = {str(key): value for key, value in pairs if isinstance(value, Mapping)}
        if _speaking(dialect, here):
            return here
    return dict(entries)


def _speaks(dialect: Dialect, found: Mapping[str, Any]) -> bool:
    names = {str(key).replace("-", "_") for place in _places(dialect, found) for key in place}
    own = {*dialect.keys, *dialect.aliases} - set(dialect.derived)
    return not names.isdisjoint(own)


def _places(dialect: Dialect, found: Mapping[str, Any]) -> list[Mapping[str, Any]]:
    places = (_at(found, place) for place in dialect.under)
    return [place for place in places if place is not None]


def _at(found: Mapping[str, Any], place: str) -> Mapping[str, Any] | None:
    here: Any = found
    for name in place.split(".") if place else ():
        here = here.get(name) if isinstance(here, Mapping) else None
    return here if isinstance(here, Mapping) else None


def _pairs(dialect: Dialect, found: Mapping[str, Any]) -> list[Pair]:
    places = _places(dialect, found)
    plain = (str, int, float, bool, type(None))
    return [(str(k), v) for place in places for k, v in place.items() if isinstance(v, plain)]


def _listed(entries: Mapping[str, Any]) -> str:
    names = list(entries)
    more = f" and {len(names) - 8} more" if len(names) > 8 else ""
    return f"entries: {', '.join(names[:8])}{more}" if names else "it has no entries"


def _unreadable(where: str, why: str) -> DialectError:
    message = f"{where} cannot be read: {why}"
    fix = "give a YAML, JSON, INI or gin file of settings, or one with a command line"
    return DialectError(message, where="--file", fix=fix)


def parsed(text: str, suffix: str) -> Any:
    """Parse a text as its file's suffix says; raise ValueError with the reason if that fails."""
    if suffix in (".ini", ".cfg"):
        return _ini(text)
    if suffix == ".gin":
        return _gin(text)
    try:
        if suffix == ".json" or text.lstrip().startswith("{"):
            return json.loads(text, object_pairs_hook=_once)
        return yaml.load(text, Loader=_Loader)
    except RecursionError:
        raise ValueError("it is nested too deeply") from None
    except (yaml.YAMLError, OverflowError) as error:
        raise ValueError(" ".join(str(error).split())) from None


class _Loader(yaml.SafeLoader):
    """The safe YAML loader, with limits on aliases and entries, and without duplicate keys."""

    def __init__(self, text: str) -> None:
        super().__init__(text)
        self._aliases = 0

    def compose_node(self, parent: Any, index: Any) -> Any:
        self._aliases += self.check_event(yaml.AliasEvent)
        if self._aliases > _MOST_ALIASES:
            raise ValueError(f"more than {_MOST_ALIASES} aliases")
        return super().compose_node(parent, index)

    def flatten_mapping(self, node: Any) -> None:
        _once([(key.value, value.value) for key, value in node.value if _is_own(key, value)])
        super().flatten_mapping(node)
        if len(node.value) > _MOST_NODES:
            raise ValueError(f"more than {_MOST_NODES} entries in one place")


def _is_own(key: Any, value: Any) -> bool:
    """Return True if both are scalars and the key does not merge another mapping."""
    plain = isinstance(key, yaml.ScalarNode) and isinstance(value, yaml.ScalarNode)
    return plain and key.value != "<<"


def _once(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    """Build a mapping; raise ValueError for a name with two values."""
    found: dict[str, Any] = {}
    for key, value in pairs:
        if key in found and found[key] != value:
            raise ValueError(f"{key} is given twice: {found[key]} and {value}")
        found[key] = value
    return found


def _ini(text: str) -> dict[str, dict[str, Any]]:
    """Parse sections of an INI file, without interpolation."""
    parser = configparser.ConfigParser(interpolation=None, strict=True)
    parser.optionxform = str  # type: ignore[assignment, method-assign]
    try:
        parser.read_string(text)
    except configparser.Error as error:
        raise ValueError(" ".join(str(error).split())) from None
    return {name: dict(parser[name]) for name in parser.sections()}


def _gin(text: str) -> dict[str, Any]:
    """Parse the bindings of a gin file; names of the form Class.setting stay whole."""
    return _once([(name, value.strip().strip("'\"")) for name, value in _BINDING.findall(text)])
