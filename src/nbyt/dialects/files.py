"""Real configuration files read as settings: command lines, YAML and JSON; nothing is executed."""

import json
import shlex
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import yaml

from nbyt.dialects.dialect import Dialect, every
from nbyt.dialects.settings import Pair
from nbyt.errors import DialectError

LARGEST_FILE = 256 * 1024
_MOST_NODES = 10_000
_MOST_ALIASES = 500
_DEEPEST = 20


def read_file(dialect: Dialect, path: Path, entry: str | None = None) -> list[Pair]:
    """The (name, value) pairs of a configuration file.

    `entry` picks one of several, as in RL-Zoo's files, where each environment has its own.
    """
    text = _text(path)
    where = str(path)
    if path.suffix.lower() not in (".json", ".yml", ".yaml") and _looks_like_command(text):
        return _command_line(dialect, text, where)
    found = _parsed(path, text)
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


def _parsed(path: Path, text: str) -> Any:
    """YAML or JSON as plain data. Whatever a parser may stumble over becomes one error."""
    is_json = path.suffix.lower() == ".json" or text.lstrip().startswith("{")
    try:
        if is_json:
            return json.loads(text, object_pairs_hook=_once)
        return yaml.load(text, Loader=_Loader)  # noqa: S506, our loader is a SafeLoader
    except RecursionError:
        raise _unreadable(str(path), "it is nested too deeply") from None
    except (yaml.YAMLError, ValueError, OverflowError) as error:
        raise _unreadable(str(path), " ".join(str(error).split())[:200]) from None


class _Loader(yaml.SafeLoader):
    """The safe loader, with an end to what few bytes can grow into and no key said twice."""

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
    """Whether both are plain, and the key is none that merges another mapping."""
    plain = isinstance(key, yaml.ScalarNode) and isinstance(value, yaml.ScalarNode)
    return plain and key.value != "<<"


def _once(pairs: list[Pair]) -> dict[str, Any]:
    """A mapping; a name with two values is refused."""
    found: dict[str, Any] = {}
    for key, value in pairs:
        if key in found and found[key] != value:
            raise ValueError(f"{key} is given twice: {found[key]} and {value}")
        found[key] = value
    return found


def _chosen(dialect: Dialect, found: Mapping[str, Any], entry: str | None, where: str) -> Mapping:
    """The entry that was asked for, the only one, or the file itself."""
    if entry is not None:
        chosen = found.get(entry)
        if isinstance(chosen, Mapping):
            return chosen
        raise DialectError(
            f"no entry '{entry}' in {where}", where="--entry", fix=_listed(found)
        )
    if _mentions(dialect, found):
        return found
    entries = [value for value in found.values() if isinstance(value, Mapping)]
    useful = [value for value in entries if _mentions(dialect, value)]
    if len(useful) == 1:
        return useful[0]
    if not useful and _inside(dialect, found):
        return found
    problem = "has several entries" if useful else f"says nothing in {dialect.library}'s words"
    fix = f"--entry NAME; {_listed(found)}" if useful else f"`nbyt dialects {dialect.id}` lists them"
    raise DialectError(f"{where} {problem}", where="--file", fix=fix)


def _mentions(dialect: Dialect, found: Mapping[str, Any]) -> bool:
    return any(key in dialect.keys or key in dialect.aliases for key in found)


def _inside(dialect: Dialect, found: Mapping[str, Any]) -> bool:
    """Whether one of the places where this library keeps its settings is there."""
    places = (_at(found, place) for place in dialect.under if place)
    return any(place is not None for place in places)


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
    if len(leaves) > _MOST_NODES:
        raise _unreadable(where, f"more than {_MOST_NODES} values")
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


def _looks_like_command(text: str) -> bool:
    return any(" --" in line or line.lstrip().startswith("--") for line in text.splitlines())


def _command_line(dialect: Dialect, text: str, where: str) -> list[Pair]:
    """The flags of one command: --num-envs 8, --num-envs=8, --track, --no-track."""
    joined = text.replace("\\\r\n", " ").replace("\\\n", " ")
    commands = [line for line in joined.splitlines() if "--" in line.partition("#")[0]]
    if len(commands) != 1:
        raise _unreadable(where, f"it holds {len(commands)} command lines, not one")
    try:
        words = shlex.split(commands[0], comments=True)
    except ValueError as error:
        raise _unreadable(where, f"the command line is broken: {error}") from None
    _right_script(dialect, words, where)
    return list(_flags(words))


def _flags(words: list[str]) -> Iterator[Pair]:
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


def _unreadable(where: str, why: str) -> DialectError:
    return DialectError(
        f"{where} cannot be read: {why}",
        where="--file",
        fix="give a YAML or JSON file of settings, or one with a command line",
    )


def _listed(found: Mapping[str, Any]) -> str:
    names = [str(key) for key, value in found.items() if isinstance(value, Mapping)]
    more = f" and {len(names) - 8} more" if len(names) > 8 else ""
    return f"entries: {', '.join(names[:8])}{more}" if names else "it has no entries"
