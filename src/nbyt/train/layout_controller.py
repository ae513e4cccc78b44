"""Choose the next T from looks at rollouts, one power of two at a time."""

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from jaxtyping import Float

History = Float[np.ndarray, "looks lengths"]


class Decision(NamedTuple):
    """Where to go next: a place among the lengths, and why; no reason where all stays as it is."""

    place: int
    reason: str = ""


@dataclass(frozen=True)
class LayoutController:
    """How looks are taken and when they are believed.

    every: updates from one look to the next. fewest: looks before the first change, and between
    two. window: looks that count, those before it being of another policy. sure: how many standard
    errors a neighbour has to be ahead.
    """

    every: int = 4
    fewest: int = 12
    window: int = 24
    sure: float = 2.0

    def looks(self, number: int) -> bool:
        """Whether the rollout of that update is looked at."""
        return number % self.every == 0

    def turn(self, history: History, place: int, since: int, lengths: tuple[int, ...]) -> Decision:
        """The place after the last look of the history.

        since: looks that were made since the last change. Neighbours are compared look by look:
        what makes one rollout hard to learn from does so at every T.
        """
        seen = history[-self.window :]
        if len(seen) < self.fewest or since < self.fewest:
            return Decision(place)
        leads = {
            other: _lead(seen[:, other] - seen[:, place])
            for other in (place - 1, place + 1)
            if 0 <= other < len(lengths)
        }
        best = max(leads, key=lambda other: leads[other])
        if leads[best] < self.sure:
            return Decision(place)
        return Decision(best, _reason(lengths[place], lengths[best], leads[best], len(seen)))


def controller_for(updates: int) -> LayoutController:
    """Return the controller for a run of so many updates; it looks at about the last fifth."""
    usual = LayoutController()
    window = max(usual.window, updates // usual.every // 5)
    return LayoutController(usual.every, window // 2, window, usual.sure)


def _lead(gaps: Float[np.ndarray, " looks"]) -> float:
    """How many standard errors the mean gap is above 0."""
    spread = float(gaps.std(ddof=1)) / len(gaps) ** 0.5
    return float(gaps.mean()) / spread if spread > 0 else 0.0


def _reason(old: int, new: int, lead: float, looks: int) -> str:
    why = "the critic is good enough to cut earlier" if new < old else "cut later, it is less wrong"
    return (
        f"advantages cut after {new} steps agreed better with the long-horizon gradient than after "
        f"{old}, by {lead:.1f} standard errors over {looks} looks: {why}"
    )
