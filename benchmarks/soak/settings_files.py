"""Files of settings: YAML, JSON and command lines, whole and damaged."""

import json
import shlex
from random import Random
from typing import Any

from benchmarks.soak.settings_values import Given
from nbyt.dialects.dialect import Dialect

_DEEP = 2000
# Texts that stand for a value where a file is read by hand: wrong types, tags, anchors, bombs.
_YAML = [
    "[1, 2]",
    "{a: 1}",
    "2026-01-01",
    "!!binary aGVsbG8=",
    "!!python/object/apply:os.system [ls]",
    "!!set {a, b}",
    "!!int x",
    "!!float '1e400'",
    "&a 8",
    "*a",
    "&b [*b]",
    ".nan",
    ".inf",
    "0x1F",
    "0b2",
    "1:30:00",
    "010",
    "9" * 5000,
    "1e99999",
    "~",
    "'",
    "[" * _DEEP,
    "- " * _DEEP,
    "{" * _DEEP + "}" * _DEEP,
    "|\n  text\n  more",
    "<<",
]
_KEYS = ["null", "1", "1.5", "? [a, b]\n", "? {a: 1}\n", "<<", "true", "2026-01-01", "''", "!!x y"]
_JSON = ["NaN", "Infinity", "-Infinity", "1e400", "[1]", '{"a": 1}', "null", "true", "9" * 5000]
_JSON += ["[" * _DEEP, "[" * _DEEP + "]" * _DEEP, '"\\ud800"', '"\\u0000"', "01", "-"]


def file_content(random: Random, dialect: Dialect, pairs: Given, wild: float) -> tuple[str, bytes]:
    """Return the suffix and the bytes of a file with these settings."""
    write = random.choice([_yaml, _yaml, _json, _command])
    text = write(random, dialect, pairs, wild)
    suffix = {_yaml: ".yml", _json: ".json", _command: ".sh"}[write]
    raw = text.encode("utf-8", "surrogatepass")
    suffix = random.choice([".yml", ".json", ".sh", ""]) if random.random() < wild / 5 else suffix
    return suffix, _damaged(random, raw) if random.random() < wild / 5 else raw


def _yaml(random: Random, dialect: Dialect, pairs: Given, wild: float) -> str:
    lines = [f"{key}: {value}" for key, value in pairs]
    if random.random() < wild:
        key = random.choice([*dialect.keys, *_KEYS])
        lines.insert(random.randint(0, len(lines)), f"{key}: {random.choice(_YAML)}")
    for name in reversed(_place(random, dialect)):
        lines = [f"{name}:", *(f"  {line}" for line in "\n".join(lines).splitlines())]
    return "\n".join(lines) + "\n"


def _json(random: Random, dialect: Dialect, pairs: Given, wild: float) -> str:
    members = [f"{json.dumps(key)}: {_literal(random, value)}" for key, value in pairs]
    if random.random() < wild:
        odd = f"{json.dumps(random.choice(dialect.keys))}: {random.choice(_JSON)}"
        members.insert(random.randint(0, len(members)), odd)
    text = "{" + ", ".join(members) + "}"
    for name in reversed(_place(random, dialect)):
        text = f"{{{json.dumps(name)}: {text}}}"
    return text


def _literal(random: Random, value: str) -> str:
    """Return a value as a number, where JSON has it as one, or as text."""
    return json.dumps(value) if random.random() < 0.2 or not _is_number(value) else value


def _is_number(value: str) -> bool:
    return value.lstrip("-").isascii() and value.lstrip("-").isdecimal()


def _command(random: Random, dialect: Dialect, pairs: Given, wild: float) -> str:
    join = random.choice(["=", " "])
    words = [f"--{key}{join}{shlex.quote(value)}" for key, value in pairs]
    odd = random.choice(["--track", "--no-track", "--", "'", "\\", "--a 'b", "$(ls)", "# x"])
    odd = odd if random.random() < wild else ""
    script = random.choice(["train.py", dialect.script or "ppo.py", "ppo_atari.py", ""])
    return f"python {script} {' '.join(words)} {odd}\n"


def _place(random: Random, dialect: Dialect) -> list[str]:
    """Return where in the file they stand: where the library keeps them, perhaps in an entry."""
    under = random.choice(dialect.under)
    entry = random.choice([[], [], ["CartPole-v1"]])
    return [*entry, *(under.split(".") if under else [])]


def _damaged(random: Random, raw: bytes) -> bytes:
    """Return the bytes cut short, changed, doubled, or replaced by something else."""
    place = random.randint(0, len(raw))
    tried: list[Any] = [
        raw[:place],
        raw[:place] + random.randbytes(8) + raw[place:],
        raw[:place] + random.choice(b"{}[]:,&*!|>'\"%@`#-\n\t\0\xff").to_bytes() + raw[place + 1 :],
        raw + raw,
        b"\xef\xbb\xbf" + raw,
        b"\xff\xfe" + raw,
        b"",
        raw + b"#" * 300_000,
    ]
    return bytes(random.choice(tried))
