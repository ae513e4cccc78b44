"""Trainings that are invented, so that the truth about them is known.

All statistics are the same for scores with the other sign, so each kind of skewness is here once.
"""

from collections.abc import Callable

import numpy as np

Draw = Callable[[np.random.Generator, tuple[int, ...]], np.ndarray]
_MANY = 4_000_000


def learns(share: float, spread: float = 0.1) -> Draw:
    """Trainings that learn with some probability, and else do not."""

    def drawn(generator: np.random.Generator, size: tuple[int, ...]) -> np.ndarray:
        learned = generator.random(size) < share
        return np.where(learned, 1.0, 0.0) + spread * generator.normal(size=size)

    return drawn


def moved(draw: Draw, by: float) -> Draw:
    """The same, better by a constant."""
    return lambda generator, size: draw(generator, size) + by


def normal(generator: np.random.Generator, size: tuple[int, ...]) -> np.ndarray:
    """Trainings that differ as the normal law says."""
    return generator.normal(size=size)


def lucky(generator: np.random.Generator, size: tuple[int, ...]) -> np.ndarray:
    """Skewed: few are much better than most."""
    return generator.exponential(size=size)


WORLDS: dict[str, Draw] = {
    "normal": normal,
    "few much better": lucky,
    "half learn": learns(0.5),
    "7 of 10 learn": learns(0.7),
    "1 of 4 learns": learns(0.25),
}
PAIRS: dict[str, tuple[Draw, Draw]] = {
    "normal, equal": (normal, normal),
    "normal, 0.5 apart": (moved(normal, 0.5), normal),
    "normal, 1 apart": (moved(normal, 1.0), normal),
    "normal, 2 apart": (moved(normal, 2.0), normal),
    "skewed, 0.5 apart": (moved(lucky, 0.5), lucky),
    "half learn, equal": (learns(0.5), learns(0.5)),
    "8 of 10 learn, 4 of 10": (learns(0.8), learns(0.4)),
    "19 of 20 learn, 3 of 10": (learns(0.95), learns(0.3)),
}
# Nine layouts: all alike, a peak in the middle, the longer the better.
SHAPES: dict[str, list[float]] = {
    "all alike": [0.0] * 9,
    "a peak": [-0.15 * (k - 4) ** 2 for k in range(9)],
    "a slope": [0.25 * k for k in range(9)],
}


def true_iqm(draw: Draw, generator: np.random.Generator) -> float:
    """The mean of the middle half of very many."""
    found = np.sort(draw(generator, (_MANY,)))
    return float(found[_MANY // 4 : 3 * _MANY // 4].mean())


def true_probability(first: Draw, second: Draw, generator: np.random.Generator) -> float:
    """How often the first is better in very many pairs."""
    return float(np.mean(first(generator, (_MANY,)) > second(generator, (_MANY,))))
