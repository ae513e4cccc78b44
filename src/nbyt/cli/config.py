"""Options from a TOML file: `--config run.toml`."""

import tomllib
from collections.abc import Collection
from difflib import get_close_matches
from pathlib import Path
from typing import Any

from cyclopts import App, CycloptsError, UnknownOptionError

from nbyt.errors import UsageError
from nbyt.numbers import is_huge, kind_of, value_shown
from nbyt.user_file import read_text

_NONE = ("none", "null")  # which Cyclopts takes for an option that may be left out


def read_numbers(app: App, commands: tuple[str, ...], arguments: Any) -> None:
    """Read every number that was given, before the command is called.

    Cyclopts calls this with all arguments when it has their texts. A number is then written as
    Python writes it, which Cyclopts reads without changing it; a list, or what has a unit, stays a
    text.
    """
    del app, commands
    for argument in arguments:
        kind = kind_of(argument.field_info.annotation)
        if kind is None:
            continue
        for place, token in enumerate(argument.tokens):
            optional = type(None) in getattr(argument.hint, "__args__", ())
            if token.implicit_value in ([], {}) or (optional and token.value.lower() in _NONE):
                continue
            name = token.keyword or argument.name
            if name.startswith("["):  # a key of the user's file
                name = f"{name.strip('[]')} in {token.source}"
            value = kind.read(token.value, name)
            if isinstance(value, int | float) and argument.hint is not str:
                argument.tokens[place] = token.evolve(value=repr(value))


# The parser takes time that grows with the square of the dots in a line.
_LONGEST_LINE = 1024


def options_of_file(path: str | None, command: str, commands: Collection[str]) -> dict[str, Any]:
    """Return the options at the top of the file and, before those, in the command's own table.

    Tables of other commands are ignored.
    """
    if path is None:
        return {}
    found = _parsed(path)
    shared = {name: value for name, value in found.items() if name not in commands}
    own = found.get(command, {}) if command in commands else {}
    if not isinstance(own, dict):
        raise _wrong(f"{command} in {path} must be a table, as it is a command")
    options = {**shared, **own}
    if "config" in options:
        raise _wrong(f"{path} must not name another config file")
    for key, value in options.items():
        _require_plain(key, value, path)
    return options


def unknown_key(error: CycloptsError, path: str) -> UsageError | None:
    """Return an error that names the unknown key of the file, and the nearest option."""
    token = getattr(error, "token", None)
    if not isinstance(error, UnknownOptionError) or token is None or token.source != path:
        return None
    key = str(token.keyword).strip("[]").replace("][", ".")
    flags = [name for one in error.argument_collection or () for name in one.names]
    near = get_close_matches(f"--{key}".replace("_", "-"), flags, n=1)
    meant = f"; did you mean {near[0].strip('-')}?" if near else ""
    return _wrong(f"'{key}' in {path} is not an option of this command{meant}")


def _require_plain(key: str, value: Any, path: str) -> None:
    """Refuse tables, lists in lists, and numbers that Python would not write out."""
    if isinstance(value, dict):
        raise _wrong(f"'{key}' in {path} is a table, but there is no such command")
    for one in value if isinstance(value, list) else [value]:
        if isinstance(one, dict | list):
            raise _wrong(f"{key} in {path} is a list of lists or tables, not of plain values")
        if is_huge(one):
            raise _wrong(f"{key} in {path} is {value_shown(one)}")


def _parsed(path: str) -> dict[str, Any]:
    try:
        text = read_text(Path(path))
        if max(map(len, text.splitlines()), default=0) > _LONGEST_LINE:
            raise ValueError(f"a line has more than {_LONGEST_LINE:,} characters")
        return tomllib.loads(text)
    except RecursionError:
        reason = "it is nested too deeply"
    except ValueError as error:
        reason = str(error)[:200]
    raise _wrong(f"{path or 'an empty path'} is not valid TOML: {reason}")


def _wrong(message: str) -> UsageError:
    return UsageError(
        message, where="--config", fix="give the path of a file with lines such as: envs = 8"
    )
