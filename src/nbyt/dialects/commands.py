"""Read settings from a command line as text: flags, --no- flags and overrides of Hydra."""

import re
import shlex
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from nbyt.dialects.dialect import Dialect, every
from nbyt.errors import DialectError

# A setting in the manner of Hydra: agent.num_steps_per_env=24, +env.scene.num_envs=64.
_OVERRIDE = re.compile(r"\+{0,2}[A-Za-z_][\w.]*=.+", re.DOTALL)


def looks_like_command(text: str) -> bool:
    """Return True if a text holds a command rather than settings by name."""
    lines = [line.partition("#")[0].strip() for line in text.splitlines()]
    return any(_is_command(line) for line in lines)


def _is_command(line: str) -> bool:
    return " --" in line or line.startswith(("--", "python ", "python3 "))


def flags(dialect: Dialect, text: str, where: str) -> list[tuple[str, Any]]:
    """Read one command: --num-envs 8, --num-envs=8, --track, --no-track, agent.gamma=0.9."""
    joined = text.replace("\\\r\n", " ").replace("\\\n", " ")
    commands = [line for line in joined.splitlines() if _is_command(line.partition("#")[0].strip())]
    if len(commands) != 1:
        raise ValueError(f"it holds {len(commands)} command lines, not one")
    try:
        words = shlex.split(commands[0], comments=True)
    except ValueError as error:
        raise ValueError(f"the command line is broken: {error}") from None
    _right_script(dialect, words, where)
    return list(read_words(words))


def read_words(words: list[str]) -> Iterator[tuple[str, Any]]:
    """Read the words of a command: flags, and settings in the manner of Hydra."""
    for place, word in enumerate(words):
        if _OVERRIDE.fullmatch(word):
            name, _, value = word.partition("=")
            yield name, value
        if not word.startswith("--") or word == "--":
            continue
        name, equals, value = word[2:].partition("=")
        following = words[place + 1] if place + 1 < len(words) else "--"
        if equals:
            yield name, value
        elif name.startswith("no-"):
            yield name.removeprefix("no-"), "false"
        elif not following.startswith("--") and not _OVERRIDE.fullmatch(following):
            yield name, following
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
