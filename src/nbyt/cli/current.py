"""The user's own layout on the command line: 8x256, or a library and its settings."""

import re
from collections.abc import Sequence

from nbyt.cli.sides import side
from nbyt.errors import LayoutError, UsageError

_SIZES = re.compile(r"([1-9][0-9]*)[xX×]([1-9][0-9]*)")


def own_layout(words: Sequence[str], batch: int | None) -> tuple[int, int] | None:
    """Envs and steps of the layout in use; None if none is given. It must have the batch asked for.

    With a library's settings, T is where that library cuts advantages.
    """
    if not words:
        return None
    sizes = _SIZES.fullmatch(words[0])
    if sizes and len(words) == 1:
        envs, steps = int(sizes[1]), int(sizes[2])
    elif sizes:
        raise UsageError(
            f"'{' '.join(words)}' is more than a layout", where="current", fix="such as 8x256"
        )
    else:
        layout = side(words[0], words[1:], None, None).layout
        envs, steps = int(layout["batch"] // layout["fragment"]), int(layout["fragment"])
    if batch is not None and envs * steps != batch:
        raise LayoutError(
            f"the current layout {envs}x{steps} has {envs * steps} samples, not {batch}",
            where="current",
            fix=f"ask with --batch {envs * steps}, or leave --batch out",
        )
    return envs, steps


def splits(text: str) -> list[tuple[int, int]]:
    """Envs and steps of every layout in a list such as 8x256,64x32."""
    found = []
    for word in filter(None, (part.strip() for part in text.split(","))):
        sizes = _SIZES.fullmatch(word)
        if sizes is None:
            raise UsageError(f"'{word}' is no layout", where="layouts", fix="such as 8x256,64x32")
        found.append((int(sizes[1]), int(sizes[2])))
    return found
