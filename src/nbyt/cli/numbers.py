"""Numbers on the command line and in configuration files, read by the table in `nbyt.numbers`."""

from typing import Any

from cyclopts import App, Token

from nbyt.numbers import kind_of

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
            value = kind.read(token.value, _name(token, argument.name))
            if isinstance(value, int | float) and argument.hint is not str:
                argument.tokens[place] = token.evolve(value=repr(value))


def _name(token: Token, name: str) -> str:
    """Return what the user calls the option: its flag, or its key in their file."""
    keyword = token.keyword or name
    return f"{keyword.strip('[]')} in {token.source}" if keyword.startswith("[") else keyword
