"""Real configuration files read as settings: command lines, YAML and JSON; nothing is executed."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from nbyt.dialects.command_line import flags, looks_like_command
from nbyt.dialects.dialect import Dialect
from nbyt.dialects.safe_yaml import parsed
from nbyt.dialects.settings import Pair
from nbyt.errors import DialectError
from nbyt.user_file import read_text


def read_file(dialect: Dialect, path: Path, entry: str | None = None) -> list[Pair]:
    """The (name, value) pairs of a configuration file.

    `entry` picks one of several, as in RL-Zoo's files, where each environment has its own.
    """
    where = str(path)
    try:
        text = read_text(path)
        if path.suffix.lower() not in (".json", ".yml", ".yaml") and looks_like_command(text):
            return flags(dialect, text, where)
        is_json = path.suffix.lower() == ".json" or text.lstrip().startswith("{")
        found = parsed(text, is_json=is_json)
    except ValueError as error:
        raise _unreadable(where, str(error)[:200]) from None
    if not isinstance(found, Mapping):
        raise _unreadable(where, "it holds no settings by name")
    return _pairs(dialect, _chosen(dialect, found, entry, where))


def _chosen(dialect: Dialect, found: Mapping[str, Any], entry: str | None, where: str) -> Mapping:
    """The entry that was asked for, the only one, or the file itself."""
    entries = {str(key): value for key, value in found.items() if isinstance(value, Mapping)}
    useful = [name for name, value in entries.items() if _speaks(dialect, value)]
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
    raise DialectError(
        f"{where} says nothing in {dialect.library}'s words",
        where="--file",
        fix=f"`nbyt dialects {dialect.id}` lists them",
    )


def _speaks(dialect: Dialect, found: Mapping[str, Any]) -> bool:
    """Whether one of this library's words stands where it keeps them."""
    names = {str(key).replace("-", "_") for place in _places(dialect, found) for key in place}
    return not names.isdisjoint({*dialect.keys, *dialect.aliases})


def _places(dialect: Dialect, found: Mapping[str, Any]) -> list[Mapping[str, Any]]:
    places = (_at(found, place) for place in dialect.under)
    return [place for place in places if place is not None]


def _at(found: Mapping[str, Any], place: str) -> Mapping[str, Any] | None:
    """The mapping at a dotted place."""
    here: Any = found
    for name in place.split(".") if place else ():
        here = here.get(name) if isinstance(here, Mapping) else None
    return here if isinstance(here, Mapping) else None


def _pairs(dialect: Dialect, found: Mapping[str, Any]) -> list[Pair]:
    """The plain values where this library keeps them."""
    places = _places(dialect, found)
    return [(str(k), v) for place in places for k, v in place.items() if _is_plain(v)]


def _is_plain(value: Any) -> bool:
    return value is None or isinstance(value, (str, int, float, bool))


def _listed(entries: Mapping[str, Any]) -> str:
    names = list(entries)
    more = f" and {len(names) - 8} more" if len(names) > 8 else ""
    return f"entries: {', '.join(names[:8])}{more}" if names else "it has no entries"


def _unreadable(where: str, why: str) -> DialectError:
    return DialectError(
        f"{where} cannot be read: {why}",
        where="--file",
        fix="give a YAML or JSON file of settings, or one with a command line",
    )
