"""What is to be measured: checked, with every default filled in."""

from dataclasses import dataclass
from math import ceil, lcm
from typing import Annotated, Any, Literal

from nbyt.collect.segment import horizon
from nbyt.errors import LayoutError, UsageError
from nbyt.layout import fragment_lengths
from nbyt.numbers import (
    CHAIN_COUNT,
    MEMORY,
    PROBABILITIES,
    PROBABILITY,
    SEED,
    SIZE,
    Size,
    check_fields,
    require,
)

Start = Literal["stationary", "reset"]
# What is under way, how much of it is done, and how much there is.

CHAINS = 128
_LEAST_STEPS = 1024


@dataclass(frozen=True)
class Request:
    """One measurement of a stage.

    steps: fragment lengths T. lambdas: the first is the stage's own. chain_steps: measured steps
    of each chain; `ahead` more only serve the reference. normalise: advantages as the loss of a
    run with normalised advantages sees them. start: "stationary" for envs at random phases of
    their episodes, "reset" for fragments that all begin at a reset.
    """

    batch: int
    steps: tuple[int, ...]
    gamma: float
    lambdas: tuple[float, ...]
    chains: int
    chain_steps: int
    ahead: int
    normalise: bool
    value_coefficient: float
    entropy_coefficient: float
    start: Start = "stationary"
    seed: int = 0


@dataclass(frozen=True)
class Resources:
    """What a measurement may use: memory in bytes, host envs at once, and how they run."""

    memory: Annotated[int, MEMORY] = 2**30
    envs: Size = 64
    vector: str = "sync"

    def __post_init__(self) -> None:
        check_fields(self)


def make_request(
    facts: dict[str, Any],
    *,
    batch: int,
    steps: Any = None,
    gamma: float | None = None,
    lam: Any = None,
    chains: int = CHAINS,
    chain_steps: int | None = None,
    advantages: str | None = None,
    start: Start = "stationary",
    seed: int = 0,
) -> Request:
    """Check a request; what is not given comes from a stage's `facts`, or is the default."""
    known = facts.get("settings", {})
    batch, chain_steps = require(SIZE, batch=batch, chain_steps=chain_steps)
    chains = CHAIN_COUNT.check(chains, "chains")
    lengths = fragment_lengths(batch, steps)
    gamma = known.get("gamma", 0.99) if gamma is None else gamma
    gamma = PROBABILITY.check(gamma, "gamma")
    lambdas = PROBABILITIES.check(known.get("lambda", 0.95) if lam is None else lam, "lambda")
    if not lambdas:
        raise UsageError("no lambda to measure", where="lambda", fix="give one, such as 0.95")
    if start not in ("stationary", "reset"):
        raise UsageError(f"unknown start '{start}'", where="start", fix="stationary or reset")
    return Request(
        batch=batch,
        steps=lengths,
        gamma=float(gamma),
        lambdas=tuple(float(value) for value in lambdas),
        chains=chains,
        chain_steps=_chain_steps(lengths, chain_steps),
        ahead=horizon(float(gamma)),
        normalise=_normalise(known, advantages),
        value_coefficient=float(known.get("value_coefficient", 0.5)),
        entropy_coefficient=float(known.get("entropy_coefficient", 0.0)),
        start=start,
        seed=SEED.check(seed, "seed"),
    )


def _chain_steps(lengths: tuple[int, ...], wanted: int | None) -> int:
    """Choose steps that every T divides if that costs little, at least the longest T."""
    longest = lengths[-1]
    if wanted is not None and wanted < longest:
        raise LayoutError(
            f"chains of {wanted} steps have no fragment of {longest}",
            where="chain_steps",
            fix=f"ask for chains of at least {longest} steps, or for shorter steps",
        )
    common = lcm(*lengths)
    unit = common if common <= 2 * max(longest, _LEAST_STEPS) else longest
    return ceil((wanted or max(longest, _LEAST_STEPS)) / unit) * unit


def _normalise(known: dict[str, Any], advantages: str | None) -> bool:
    if advantages not in (None, "raw", "normalised"):
        raise UsageError(
            f"unknown advantages '{advantages}'", where="advantages", fix="raw or normalised"
        )
    if advantages is not None:
        return advantages == "normalised"
    return known.get("normalise_advantages", "off") != "off"
