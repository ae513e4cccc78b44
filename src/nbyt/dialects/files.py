"""Real configuration files read as settings: command lines, YAML and JSON; nothing is executed."""

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from nbyt.dialects.command_line import flags, looks_like_command
from nbyt.dialects.dialect import Dialect
from nbyt.dialects.safe_yaml import MOST_NODES, parsed
from nbyt.dialects.settings import Pair
from nbyt.errors import DialectError

LARGEST_FILE = 256 * 1024
_DEEPEST = 20


def read_file(dialect: Dialect, path: Path, entry: str | None = None) -> list[Pair]:
    """The (name, value) pairs of a configuration file.

    `entry` picks one of several, as in RL-Zoo's files, where each environment has its own.
    """
    text, where = _text(path), str(path)
    try:
        if path.suffix.lower() not in (".json", ".yml", ".yaml") and looks_like_command(text):
            return flags(dialect, text, where)
        is_json = path.suffix.lower() == ".json" or text.lstrip().startswith("{")
        found = parsed(text, is_json=is_json)
    except ValueError as error:
        raise _unreadable(where, str(error)[:200]) from None
    if not isinstance(found, Mapping):
        raise _unreadable(where, "it holds no settings by name")
    return _pairs(dialect, _chosen(dialect, found, entry, where), where)


def _text(path: Path) -> str:
    try:
        with path.open("rb") as file:
            raw = file.read(LARGEST_FILE + 1)
    except OSError as error:
        raise _unreadable(str(path), error.strerror or "it cannot be opened") from None
    if len(raw) > LARGEST_FILE:
        raise _unreadable(str(path), f"it is larger than {LARGEST_FILE // 1024} KB")
    try:
        return raw.decode("utf-8-sig")
    except UnicodeDecodeError:
        raise _unreadable(str(path), "it is not UTF-8 text") from None


def _chosen(dialect: Dialect, found: Mapping[str, Any], entry: str | None, where: str) -> Mapping:
    """The entry that was asked for, the only one, or the file itself."""
    if entry is not None:
        chosen = found.get(entry)
        if isinstance(chosen, Mapping):
            return chosen
        raise DialectError(f"no entry '{entry}' in {where}", where="--entry", fix=_listed(found))
    if _inside(dialect, found) or _mentions(dialect, found):
        return found
    entries = [value for value in found.values() if isinstance(value, Mapping)]
    useful = [value for value in entries if _mentions(dialect, value)]
    if len(useful) == 1:
        return useful[0]
    problem = "has several entries" if useful else f"says nothing in {dialect.library}'s words"
    fix = (
        f"--entry NAME; {_listed(found)}" if useful else f"`nbyt dialects {dialect.id}` lists them"
    )
    raise DialectError(f"{where} {problem}", where="--file", fix=fix)


def _mentions(dialect: Dialect, found: Mapping[str, Any]) -> bool:
    return any(key in dialect.keys or key in dialect.aliases for key in found)


def _inside(dialect: Dialect, found: Mapping[str, Any]) -> bool:
    """Whether one of the places where this library keeps its settings is there."""
    places = (_at(found, place) for place in dialect.under)
    return any(_mentions(dialect, place) for place in places if place is not None)


def _at(found: Mapping[str, Any], place: str) -> Mapping[str, Any] | None:
    """The mapping at a dotted place."""
    here: Any = found
    for name in place.split(".") if place else ():
        here = here.get(name) if isinstance(here, Mapping) else None
    return here if isinstance(here, Mapping) else None


def _pairs(dialect: Dialect, found: Mapping[str, Any], where: str) -> list[Pair]:
    """The plain values where this library keeps them, else anywhere in the file."""
    places = [at for at in (_at(found, place) for place in dialect.under) if at is not None]
    if any(_mentions(dialect, place) for place in places):
        leaves = [(str(k), v) for place in places for k, v in place.items() if _is_plain(v)]
    else:
        leaves = list(_leaves(found))
    if len(leaves) > MOST_NODES:
        raise _unreadable(where, f"more than {MOST_NODES} values")
    return leaves


def _leaves(found: Mapping[str, Any], depth: int = 0) -> Iterator[Pair]:
    """Plain values of nested mappings, down to a limit."""
    for key, value in found.items():
        if _is_plain(value):
            yield str(key), value
        elif isinstance(value, Mapping) and depth < _DEEPEST:
            yield from _leaves(value, depth + 1)


def _is_plain(value: Any) -> bool:
    return value is None or isinstance(value, (str, int, float, bool))


def _listed(found: Mapping[str, Any]) -> str:
    names = [str(key) for key, value in found.items() if isinstance(value, Mapping)]
    more = f" and {len(names) - 8} more" if len(names) > 8 else ""
    return f"entries: {', '.join(names[:8])}{more}" if names else "it has no entries"


def _unreadable(where: str, why: str) -> DialectError:
    return DialectError(
        f"{where} cannot be read: {why}",
        where="--file",
        fix="give a YAML or JSON file of settings, or one with a command line",
    )
