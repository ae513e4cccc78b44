"""Laws of names: a slug stays in its folder, and plain text stays on its line."""

import re
import unicodedata

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from nbyt.store.text import plain, slug

HOSTILE = [
    "../../x",
    "/etc/x",
    "CON",
    "con.txt",
    "LPT1",
    "x" * 300,
    "a\0b",
    "",
    ".",
    "..",
    ".hidden",
    "CartPolе-v1",  # the e is Cyrillic
    "ALE/Pong-v5",
    "pkg.sim:make",
    "-rf",
    "C:\\x",
    "a b\n",
    "\ud800",
    "x.",
    "COM¹",
]


@settings(derandomize=True, deadline=None)
@given(st.text(max_size=120))
@example("NUL.")
@example("con.x" + "y" * 100)
def test_slug_is_always_a_safe_name(text: str) -> None:
    assert is_safe(slug(text))


def is_safe(name: str) -> bool:
    """Tell whether a name is one that every system takes for a file, and that stays as it is."""
    reserved = re.fullmatch(r"(?i)(con|prn|aux|nul|com\d|lpt\d)(\..*)?", name)
    allowed = re.fullmatch(r"[A-Za-z0-9_][A-Za-z0-9._-]{0,79}", name) and not name.endswith(".")
    return bool(allowed) and not reserved and slug(name) == name


@pytest.mark.parametrize("text", HOSTILE)
def test_hostile_names_become_safe(text: str) -> None:
    assert is_safe(slug(text))


def test_different_names_have_different_slugs() -> None:
    names = [*HOSTILE, "CartPole-v1", "ALE-Pong-v5", "ALE:Pong-v5", "x" * 301, "x" * 80]
    assert len({slug(name) for name in names}) == len(names)


@pytest.mark.parametrize("name", ["CartPole-v1", "a", "x" * 80, "v1.2_b", "console"])
def test_safe_names_stay(name: str) -> None:
    assert slug(name) == name


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("\x1b[31mred\x1b[0m", "red"),
        ("a\x07b\x00c\x7f", "abc"),
        ("\x1b]0;evil title\x07name", "name"),
        ("\x1b]8;;http://x\x1b\\link\x1b]8;;\x1b\\", "link"),
        ("\x9b2Jgone", "gone"),
        ("\x1b[2J\x1b[Hok", "ok"),
        ("\x1bPpayload\x1b\\x", "x"),
        ("\x1bcreset", "reset"),
        ("line\r\nforged", "line forged"),
        ("abc\b\b\bxyz", "abcxyz"),
        ("a\u202eb\u200bc\u2028d", "abc d"),
        ("lone \ud800 half", "lone  half"),
        ("é 漢字 🙂 stays", "é 漢字 🙂 stays"),
    ],
)
def test_plain_strips_what_a_terminal_would_obey(text: str, shown: str) -> None:
    assert plain(text) == shown


@settings(derandomize=True, deadline=None)
@given(st.text(st.sampled_from("\x1b[]\\;0mPAc\x07\x9b\x9c\n ") | st.characters()))
@example("\x1b\x1b[31m[31m")
def test_plain_text_has_no_control_left(text: str) -> None:
    shown = plain(text)
    assert not any(unicodedata.category(c) in ("Cc", "Cf", "Cs", "Zl", "Zp") for c in shown)
    assert plain(shown) == shown


def test_plain_is_linear() -> None:
    assert len(plain("\x1b]" * 200_000 + "\x1b[" * 200_000)) <= 400_000
