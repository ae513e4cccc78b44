"""The files of the libraries, as tables; the calculator in the browser has them built in."""

import tomllib
from functools import cache
from importlib.resources import files
from typing import Any


@cache
def ids() -> tuple[str, ...]:
    """List the ids of all libraries: the names of their files."""
    folder = files("nbyt.dialects") / "data"
    return tuple(sorted(file.name.removesuffix(".toml") for file in folder.iterdir()))


def table(name: str) -> dict[str, Any]:
    """Read a file's content, on top of the file it says it is like."""
    text = (files("nbyt.dialects") / "data" / f"{name}.toml").read_text(encoding="utf-8")
    own = tomllib.loads(text)
    if "like" not in own:
        return own
    base = table(own.pop("like"))
    for part in ("called", "live", "read_on"):
        base.pop(part, None)
    both = ("defaults", "learning_defaults")
    merged = {part: {**base.get(part, {}), **own.get(part, {})} for part in both}
    return {**base, **own, **merged}
