"""Effort: how much an advice may cost, from a first look to one that decides a default."""

from dataclasses import dataclass

from nbyt.errors import UsageError

# Lambdas of the map of T and lambda, beside the one that is trained with.
MAP = (0.0, 0.8, 0.95, 1.0)


@dataclass(frozen=True)
class Effort:
    """What one word on the command line stands for.

    stages: measured in each training. chains: of each pool. trainings: with different layouts.
    looks: at which stages other lambdas, phase and the sources of noise are measured too: none,
    the one that decides, or all. more: how many times the chains are taken where those tell no
    two layouts apart, on envs that run on the device.
    """

    name: str
    stages: int
    chains: int
    trainings: int
    looks: str
    more: int = 4


EFFORTS = {
    one.name: one
    for one in (
        Effort("quick", 4, 64, 1, "none", more=1),
        Effort("normal", 6, 128, 1, "one"),
        Effort("thorough", 7, 256, 2, "all"),
    )
}


def effort(name: str) -> Effort:
    """The effort of that name, or a UsageError that lists them."""
    if name not in EFFORTS:
        raise UsageError(
            f"no effort is called '{name}'", where="effort", fix=f"one of: {', '.join(EFFORTS)}"
        )
    return EFFORTS[name]
