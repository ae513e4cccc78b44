"""What a library was seen to do: the size of every mini-batch, update by update."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from nbyt.dialects import explain


@dataclass
class Counted:
    """Sizes of mini-batches by update, gradient steps, and why it stopped, if it did."""

    updates: list[list[int]] = field(default_factory=list)
    gradient_steps: int = 0
    refusal: str = ""

    def begin_update(self) -> None:
        """From here on mini-batches belong to the next update."""
        self.updates.append([])

    def see(self, size: int) -> None:
        """One mini-batch."""
        self.updates[-1].append(size)

    def step(self) -> None:
        """One gradient step."""
        self.gradient_steps += 1


@dataclass(frozen=True)
class Row:
    """One setting of one library: what was said and what was seen."""

    library: str
    settings: Mapping[str, Any]
    said: dict[str, Any]
    seen: dict[str, Any]

    @property
    def agrees(self) -> bool:
        """Whether nothing differs."""
        return self.said == self.seen

    def as_dict(self) -> dict[str, Any]:
        """The row of the result file."""
        return {
            "library": self.library,
            "settings": dict(self.settings),
            "said": self.said,
            "seen": self.seen,
            "agrees": self.agrees,
        }


def compared(library: str, settings: Mapping[str, Any], counted: Counted) -> Row:
    """What `explain` says of some settings, beside what was counted."""
    return Row(library, settings, said(library, settings), _seen(counted))


def said(library: str, settings: Mapping[str, Any]) -> dict[str, Any]:
    """What `explain` says of some settings."""
    found = explain(library, **settings)
    repeats = 1 if found.schedule["sizes_of"] == "update" else found.layout["epochs"]
    return {
        "refused": bool(found.reading.refusals),
        "updates": found.schedule["updates"],
        "sizes_of_an_update": _runs(found.schedule["minibatch_sizes"] * int(repeats)),
        "gradient_steps": found.schedule["gradient_steps"],
    }


def _seen(counted: Counted) -> dict[str, Any]:
    if counted.refusal:
        return {"refused": True, "updates": 0, "sizes_of_an_update": [], "gradient_steps": 0}
    kinds = {tuple(sizes) for sizes in counted.updates}
    # More than one kind of update would be a finding in itself: it agrees with nothing.
    sizes = _runs(list(kinds.pop())) if len(kinds) == 1 else [list(kind) for kind in kinds]
    return {
        "refused": False,
        "updates": len(counted.updates),
        "sizes_of_an_update": sizes,
        "gradient_steps": counted.gradient_steps,
    }


def _runs(sizes: list[int]) -> list[list[int]]:
    """Sizes in order, equal neighbours together: [size, how many]."""
    runs: list[list[int]] = []
    for size in sizes:
        if runs and runs[-1][0] == size:
            runs[-1][1] += 1
        else:
            runs.append([size, 1])
    return runs
