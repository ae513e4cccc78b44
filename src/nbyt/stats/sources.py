"""The sources of a gradient's noise: what blocks of cloned rollouts say of each, with intervals."""

from dataclasses import dataclass, fields, replace
from typing import Any, NamedTuple

import numpy as np
from jaxtyping import Float

from nbyt.errors import UsageError
from nbyt.stats.estimate import Estimate, mean

LEAST_BLOCKS = 2
_SHARES = ("environment_share", "policy_share")

Blocks = Float[np.ndarray, " blocks"]


class SourceBlocks(NamedTuple):
    """Unbiased estimates of the parts of one env's Var(G), one from each block of rollouts.

    G is the mean over T steps of f A; Gbar has E[A | s, a] for each A, and the rest is noise.
    """

    sampling: Blocks
    """Var(Gbar)."""
    coupling: Blocks
    """2 Cov(Gbar, noise)."""
    trajectory: Blocks
    """What Var(noise) would be if the steps' noises were independent."""
    shared_luck: Blocks
    """The rest of Var(noise)."""
    environment: Blocks
    """The part of Var(noise) that is the env's luck; what is left comes of later actions."""
    own_step: Blocks
    """The part of `environment` that is the answer to the step's own action."""


@dataclass(frozen=True)
class SourceEstimates:
    """Where the variance of one env's rollout gradient comes from.

    Three sums, each exact: variance = sampling + own_step + credit + coupling, by meaning;
    own_step + credit = environment + policy, by whose luck it is; and, by term,
    own_step + credit = trajectory + shared_luck. Estimates may be negative.
    """

    sampling: Estimate
    """Which states and actions were visited, with advantages free of noise."""
    own_step: Estimate
    """The env's answer to the action itself."""
    credit: Estimate
    """Later luck, of env and policy, credited back to earlier actions; 0 where lam is 0."""
    coupling: Estimate
    """The luck in an advantage also decides what is visited next; any sign."""
    variance: Estimate
    """All of it."""
    environment: Estimate
    """Noise of the advantages from the env's luck."""
    policy: Estimate
    """Noise of the advantages from the luck of later actions."""
    trajectory: Estimate
    """The noise that each step's advantage has by itself."""
    shared_luck: Estimate
    """The noise that steps have in common; any sign."""
    environment_share: Estimate
    """environment / (environment + policy)."""
    policy_share: Estimate
    """policy / (environment + policy)."""

    def over(self, envs: int) -> "SourceEstimates":
        """Return the sources with N envs: every variance is divided by N, shares stay."""
        parts = {name: _divided(part, envs) for name, part in self._parts() if name not in _SHARES}
        return replace(self, **parts)

    def as_dict(self) -> dict[str, dict[str, Any]]:
        return {name: part.as_dict() for name, part in self._parts()}

    def _parts(self) -> list[tuple[str, Estimate]]:
        return [(field.name, getattr(self, field.name)) for field in fields(self)]


def source_estimates(blocks: SourceBlocks) -> SourceEstimates:
    """Estimate means over blocks with Student's t intervals; shares by the jackknife."""
    blocks = SourceBlocks(*(np.asarray(values, float) for values in blocks))
    if len(blocks.sampling) < LEAST_BLOCKS:
        raise UsageError(
            f"an interval cannot be had from {len(blocks.sampling)} blocks of rollouts",
            where="blocks",
            fix=f"measure {LEAST_BLOCKS} blocks or more; from 16 on intervals are dependable",
        )
    noise = blocks.trajectory + blocks.shared_luck
    policy = noise - blocks.environment
    return SourceEstimates(
        sampling=mean(blocks.sampling),
        own_step=mean(blocks.own_step),
        credit=mean(noise - blocks.own_step),
        coupling=mean(blocks.coupling),
        variance=mean(blocks.sampling + noise + blocks.coupling),
        environment=mean(blocks.environment),
        policy=mean(policy),
        trajectory=mean(blocks.trajectory),
        shared_luck=mean(blocks.shared_luck),
        environment_share=_share(blocks.environment, noise),
        policy_share=_share(policy, noise),
    )


def _share(part: Blocks, whole: Blocks) -> Estimate:
    """Return the ratio of two means, from the jackknife's pseudo-values."""
    count = len(part)
    others = whole.sum() - whole
    if not np.all(others > 0):
        return Estimate(None, None, None, count, "the advantages have no measurable noise")
    left_out = (part.sum() - part) / others
    return mean(count * part.sum() / whole.sum() - (count - 1) * left_out)


def _divided(part: Estimate, envs: int) -> Estimate:
    low, value, high = (x if x is None else x / envs for x in (part.low, part.value, part.high))
    return replace(part, value=value, low=low, high=high)
