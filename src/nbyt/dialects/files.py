"""Read settings from configuration files: command lines, YAML and JSON; nothing is executed."""

import json
import shlex
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import yaml

from nbyt.dialects.dialect import Dialect, every
from nbyt.dialects.settings import Pair
from nbyt.errors import DialectError
from nbyt.user_file import read_text


def looks_like_command(text: str) -> bool:
    """Return True if a text holds flags rather than settings by name."""
    return any(" --" in line or line.lstrip().startswith("--") for line in text.splitlines())


def flags(dialect: Dialect, text: str, where: str) -> list[tuple[str, Any]]:
    """Read the flags of one command: --num-envs 8, --num-envs=8, --track, --no-track."""
    joined = text.replace("\\\r\n", " ").replace("\\\n", " ")
    commands = [line for line in joined.splitlines() if "--" in line.partition("#")[0]]
    if len(commands) != 1:
        raise ValueError(f"it holds {len(commands)} command lines, not one")
    try:
        words = shlex.split(commands[0], comments=True)
    except ValueError as error:
        raise ValueError(f"the command line is broken: {error}") from None
    _right_script(dialect, words, where)
    return list(_read(words))


def _read(words: list[str]) -> Iterator[tuple[str, Any]]:
    for place, word in enumerate(words):
        if not word.startswith("--") or word == "--":
            continue
        name, equals, value = word[2:].partition("=")
        following = words[place + 1] if place + 1 < len(words) else "--"
        if equals:
            yield name, value
        elif not following.startswith("--"):
            yield name, following
        elif name.startswith("no-"):
            yield name.removeprefix("no-"), "false"
        else:
            yield name, "true"


def _right_script(dialect: Dialect, words: list[str], where: str) -> None:
    """Refuse a command that runs a script with other defaults than this dialect's."""
    scripts = {one.script: one.id for one in every() if one.script}
    run = next((Path(word).name for word in words if Path(word).name in scripts), "")
    if run and dialect.script and run != dialect.script:
        raise DialectError(
            f"the command runs {run}, which is {scripts[run]}; {dialect.id} is {dialect.script}",
            where=where,
            fix=f"say {scripts[run]} in place of {dialect.id}",
        )


_MOST_NODES = 10_000
_MOST_ALIASES = 500


def parsed(text: str, *, is_json: bool) -> Any:
    """Parse a text as JSON or YAML; raise ValueError with the reason if that fails."""
    try:
        if is_json:
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


def read_file(dialect: Dialect, path: Path, entry: str | None = None) -> list[Pair]:
    """Read the (name, value) pairs of a configuration file.

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
    message = f"{where} has no settings of {dialect.library}"
    raise DialectError(message, where="--file", fix=f"`nbyt dialects {dialect.id}` lists them")


def _speaks(dialect: Dialect, found: Mapping[str, Any]) -> bool:
    names = {str(key).replace("-", "_") for place in _places(dialect, found) for key in place}
    return not names.isdisjoint({*dialect.keys, *dialect.aliases})


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
    fix = "give a YAML or JSON file of settings, or one with a command line"
    return DialectError(message, where="--file", fix=fix)
