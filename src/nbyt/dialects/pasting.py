"""Write settings as text to paste: a command line, a call, or lines of a configuration."""

import json
import re
from collections.abc import Mapping
from typing import Any

from nbyt.dialects.dialect import Dialect

_NAME = re.compile(r"\{([A-Za-z_.]+)\}")
_GROUPS = ("arguments", "flags", "lines", "overrides", "script")


def pasted(dialect: Dialect, values: Mapping[str, Any]) -> str:
    """Fill in the dialect's template; parts that name a setting without a value are left out."""
    template, known = dialect.paste.text.strip("\n"), _known(dialect, values)
    lines = [_line(line, known) for line in template.split("\n")]
    return "\n".join(line for line in lines if line is not None)


def pasted_change(dialect: Dialect, values: Mapping[str, Any]) -> str:
    """Write some settings alone: arguments of a call, flags of a command, or lines of a file."""
    template, known = dialect.paste.text.strip("\n"), _known(dialect, values)
    if "{arguments}" in template:
        return ", ".join(f"{key}={known[key]}" for key in values)
    del known["script"]
    is_command = "{flags}" in template or "{overrides}" in template
    pieces = template.split() if is_command else template.split("\n")
    writing = [one for one in pieces if any(known.get(name) for name in _NAME.findall(one))]
    text = (" " if is_command else "\n").join(_line(one, known) or "" for one in writing)
    return "\n".join(line.strip() for line in text.splitlines())


def _known(dialect: Dialect, values: Mapping[str, Any]) -> dict[str, str]:
    """Return what the template may name: settings, and groups of those that it does not name."""
    named = set(_NAME.findall(dialect.paste.text)) - set(dialect.paste.repeat)
    rest = {key: value for key, value in values.items() if key not in named}
    return {key: _text(dialect, value) for key, value in values.items()} | _groups(dialect, rest)


def _groups(dialect: Dialect, rest: Mapping[str, Any]) -> dict[str, str]:
    """Write the settings that the template does not name, in each way it may ask for them."""
    paste, texts = dialect.paste, {key: _text(dialect, value) for key, value in rest.items()}
    lines = [_filled(paste.line, {"key": key, "value": text}) for key, text in texts.items()]
    groups = {
        "arguments": ", ".join(f"{key}={text}" for key, text in texts.items()),
        "flags": " ".join(_with_flag(dialect, key, value) for key, value in rest.items()),
        "overrides": " ".join(f"{paste.prefix}{key}={text}" for key, text in texts.items()),
        "lines": "\n".join(lines),
        "script": dialect.script,
    }
    assert tuple(sorted(groups)) == tuple(sorted(_GROUPS))
    return groups


def _line(line: str, known: Mapping[str, str]) -> str | None:
    """Fill in a line; return None if everything that it names is missing."""
    names = _NAME.findall(line)
    missing = [name for name in names if name not in known]
    if missing and len(missing) == len(names):
        return None
    for name in missing:
        line = re.sub(rf"(, )?{re.escape(name)}=\{{{re.escape(name)}\}}", "", line)
    return _filled(line, known)


def _filled(text: str, known: Mapping[str, str]) -> str:
    return _NAME.sub(lambda match: known.get(match[1], match[0]), text)


def _flag(dialect: Dialect, key: str) -> str:
    return key.replace("_", "-") if dialect.paste.hyphens else key


def _with_flag(dialect: Dialect, key: str, value: Any) -> str:
    if dialect.paste.hyphens and isinstance(value, bool):
        return f"--{'' if value else 'no-'}{_flag(dialect, key)}"
    return f"--{_flag(dialect, key)} {_text(dialect, value)}"


def _text(dialect: Dialect, value: Any) -> str:
    is_text = isinstance(value, str) and value not in dialect.paste.classes
    return json.dumps(value) if is_text else str(value)
