"""Names from outside made safe: for a file system, and for a terminal."""

import hashlib
import re
import unicodedata

SLUG_LENGTH = 80
_RESERVED = re.compile(r"(con|prn|aux|nul|com[0-9]|lpt[0-9])(\..*)?", re.IGNORECASE)
_ESCAPES = re.compile(
    r"(?:\x1b\[|\x9b)[0-?]*[ -/]*[@-~]"  # colours, cursor moves
    r"|(?:\x1b[\]PX^_]|[\x9d\x90\x98\x9e\x9f])[^\x07\x1b\x9c]*(?:\x07|\x1b\\|\x9c)"  # titles, links
    r"|\x1b[ -/]*[0-~]"  # everything else of that family
)

_SPACES = re.compile(r"[\t\n\r\v\f\x85\u2028\u2029]+")
_UNSEEN = ("Cc", "Cf", "Cs")


def slug(text: str) -> str:
    """Return a file-name part of ASCII letters, digits, `.`, `_`, `-`, unique to the text.

    A text that is safe already stays as it is. Any other is cleaned and gets eight digits of its
    hash, so that two names that look alike never share a file.

    >>> slug("CartPole-v1")
    'CartPole-v1'
    """
    cleaned = re.sub(r"[^A-Za-z0-9._-]+", "-", text).lstrip(".-").rstrip(".-")
    if cleaned == text and len(text) <= SLUG_LENGTH and not _RESERVED.fullmatch(text) and text:
        return text
    digest = hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()[:8]
    start = cleaned[: SLUG_LENGTH - 9 - 1] or "unnamed"
    # The underscore keeps Windows from taking "con.x-12345678" for its console.
    return f"{'_' if _RESERVED.fullmatch(start) else ''}{start}-{digest}"


def plain(text: str, *, lines: bool = False) -> str:
    """Return the text without terminal commands, control or invisible characters.

    It becomes one line; with `lines` its lines stay.
    """
    if text.isascii() and text.isprintable():  # nearly all of them
        return text
    kept = _ESCAPES.sub("", text)
    if not lines:
        kept = _ESCAPES.sub("", _SPACES.sub(" ", kept))
    return "".join(c for c in kept if c == "\n" or unicodedata.category(c) not in _UNSEEN)
