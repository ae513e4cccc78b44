"""Why a gate does not pass, where that is known: looked into case by case, and said on the page."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from benchmarks.calibration.gate import BOUNDED
from benchmarks.calibration.truths import SQUARED

Gate = dict[str, Any]

_SQUARES = ("bias_sq", "bias_sq_advantage", "bias_sq_phase", "mse", "noise_factor")
_COMPARED = ("rho_difference", "rho_ratio")


@dataclass(frozen=True)
class Reason:
    """A known limit: what it is called, how it comes about, and the gates that it explains."""

    title: str
    words: str
    explains: Callable[[Gate], bool]


def reason(gate: Gate) -> Reason | None:
    """Why a gate does not pass; None if nobody knows."""
    return next((one for one in REASONS if one.explains(gate)), None)


def _rare(gate: Gate) -> bool:
    return gate["case"].startswith("frozenlake-uniform")


def _unclear(gate: Gate) -> bool:
    return gate["field"] in (*BOUNDED, "rho_ratio") and gate["undetermined"] >= 0.01


def _edge(gate: Gate) -> bool:
    return gate["field"] in BOUNDED and gate["coverage"] > 0.95


def _few_directions(gate: Gate) -> bool:
    fields = (*BOUNDED, *_COMPARED, "bias_sq_advantage")
    return gate["field"] in fields and (gate["flagged"] >= 0.5 or gate["case"] == "garnet-reset")


def _lag(gate: Gate) -> bool:
    return gate["field"].startswith("lag_") or gate["field"] == "across"


def _phase(gate: Gate) -> bool:
    return gate["field"] == "phase"


def _regret(gate: Gate) -> bool:
    return gate["field"] == "regret"


def _spread(gate: Gate) -> bool:
    field = gate["field"].removeprefix("printed_")
    return gate["case"] == "garnet-normalised" and field in SQUARED


def _near_zero(gate: Gate) -> bool:
    return gate["field"] in (*_SQUARES, *_COMPARED) and gate["coverage"] > 0.95


def _wide(gate: Gate) -> bool:
    return gate["coverage"] > 0.95


REASONS = (
    Reason(
        "Rewards that few chains see.",
        "FrozenLake's uniform policy reaches the goal in one of 500 episodes: about twice in a "
        "pool of 128 x 256 steps, and in one such pool of seven not at all. Nearly all of the "
        "gradient is then one or two chains. nbyt marks numbers that a handful of chains decides. "
        "But a pool that had no luck shows small numbers with small intervals, and nothing in it "
        "says that they are wrong. No interval made from the data alone can repair that; longer "
        "chains help (*frozenlake-uniform-long* has the default length).",
        _rare,
    ),
    Reason(
        "A direction that is hardly known.",
        "Cosine, bias factor, alignment and the ratio of two rho divide by lengths, among them "
        "|G*|². Where that is not clear of 0 most pools print no interval; of the few that do, "
        "many are wrong, because they look clear by chance. It is worst for the total with an "
        "exact critic, whose part of the reference is 0 and all noise.",
        _unclear,
    ),
    Reason(
        "Cosines near 1.",
        "The error of a cosine at the end of its range has no part of first order, and its "
        "interval is cut at 1: on one side it cannot err.",
        _edge,
    ),
    Reason(
        "Squares near 0.",
        "A squared length that may be 0 has an error without a part of first order, made of pairs "
        "of chains. Its spread is estimated from the same pairs: where they happen to be large, "
        "both the value and its interval are. The same holds for what is made from it, and for "
        "the difference of two rho that may both be 0. Such intervals cover more than they say.",
        _near_zero,
    ),
    Reason(
        "Gradients that spread in few directions.",
        "With few parameters, or few that matter, the error of a cosine, or of a comparison of two "
        "directions, is far from normal. nbyt marks what spreads in fewer than four; the actor of "
        "*garnet-reset*, one fragment a chain, has hardly more.",
        _few_directions,
    ),
    Reason(
        "Correlations that few pairs of steps carry.",
        "At a long lag the product of two steps is large only where both hold a rare reward. The "
        "few chains that have one decide both the value and its error, so that small values come "
        "with small intervals: the misses are on one side. Hall's correction for skewness was "
        "tried and does not repair it.",
        _lag,
    ),
    Reason(
        "Phase",
        "is measured on 64 chains in 8 blocks, and its interval is Student's over the blocks. It "
        "is skewed, most of all where the pool holds two updates only.",
        _phase,
    ),
    Reason(
        "Regret",
        "is a percentile of redrawn chains and cannot be below 0, which is the truth for the best "
        "layout.",
        _regret,
    ),
    Reason(
        "Normalised advantages.",
        "The pool's own spread is treated as known. What is divided by its square varies less "
        "than the interval says, because both rise and fall together. Multiplied by the spread "
        "again, as the actor's are here, the same intervals hold.",
        _spread,
    ),
    Reason(
        "Wider than need be.",
        "Intervals that cover more than 95 % for no reason named above: on the safe side.",
        _wide,
    ),
)
