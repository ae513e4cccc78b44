"""Flags of a command line as settings; nothing is run."""

import shlex
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from nbyt.dialects.dialect import Dialect, every
from nbyt.errors import DialectError


def looks_like_command(text: str) -> bool:
    """Whether a text holds flags rather than settings by name."""
    return any(" --" in line or line.lstrip().startswith("--") for line in text.splitlines())


def flags(dialect: Dialect, text: str, where: str) -> list[tuple[str, Any]]:
    """The flags of one command: --num-envs 8, --num-envs=8, --track, --no-track."""
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
