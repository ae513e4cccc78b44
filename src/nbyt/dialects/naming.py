"""Find the library that a name means, as people write it: SB3, IsaacLab + skrl."""

import re
from collections.abc import Mapping, Sequence
from difflib import SequenceMatcher

from nbyt.errors import DialectError

Called = Mapping[str, Sequence[str]]

_NEAREST = 3


def plain(name: str) -> str:
    """Return a name without case, spaces and punctuation."""
    return re.sub("[^a-z0-9]", "", name.lower())


def meant(name: str, called: Called) -> list[str]:
    """Return the ids of the libraries that a name can mean; several for a framework of several.

    called: other names by id.
    """
    wanted = plain(name)
    for tried in (wanted, wanted.removesuffix("ppo"), wanted.removeprefix("ppo")):
        found = [one for one in called if plain(one) == tried]
        found = found or [one for one, names in called.items() if tried in map(plain, names)]
        if tried and found:
            return found
    return []


def unknown(name: str, called: Called) -> DialectError:
    """Return the error for an unknown library, which names the nearest three."""
    shown = name if len(name) <= 40 else f"{name[:40]}..."
    near = nearest(name, called)
    if "=" in name:
        fix = "write the name of each library first, and its settings after it"
        return DialectError(f"'{shown}' is a setting, not a library", where="the library", fix=fix)
    fix = f"did you mean {', '.join(near[:-1])} or {near[-1]}? `nbyt dialects` lists them all"
    return DialectError(f"unknown library '{shown}'", where="the library", fix=fix)


def nearest(name: str, called: Called) -> list[str]:
    """Return the three ids whose names look most like a name, the nearest first."""
    wanted = plain(name[:80])
    likeness = {one: _likeness(wanted, (one, *names)) for one, names in called.items()}
    return sorted(likeness, key=lambda one: (-likeness[one], one))[:_NEAREST]


def _likeness(wanted: str, names: Sequence[str]) -> float:
    return max(SequenceMatcher(None, wanted, plain(one)).ratio() for one in names)


def several(name: str, ids: Sequence[str]) -> DialectError:
    """Return the error for a framework that trains with several libraries."""
    framework = plain(name)
    short = [one.removeprefix(f"{framework}_") for one in ids]
    message = f"{name} trains with several libraries: {', '.join(short)}"
    fix = f"say which: {', '.join(f'{framework}+{one}' for one in short)}"
    return DialectError(message, where="the library", fix=fix)
