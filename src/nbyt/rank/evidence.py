"""Evidence: what the chains of one stage say about every T, for any number of envs."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from jaxtyping import Float

from nbyt.stats.comparison import Candidate, common_sizes
from nbyt.stats.estimate import Estimate
from nbyt.stats.moments import moments_of
from nbyt.stats.products import Products
from nbyt.stats.ranking import relative
from nbyt.stats.samples import Samples, leave_one_out, redrawn

Rows = Float[np.ndarray, "rows lengths"]


@dataclass(frozen=True, eq=False)
class Evidence:
    """One gradient of one stage, at one lambda.

    The first row of each array is the estimate; in the others whole chains are drawn again.
    along: G* · E G, but for a factor that all T share. mean_sq: |E G|². variance: V(T) of one env.
    """

    steps: tuple[int, ...]
    along: Rows
    mean_sq: Rows
    variance: Rows

    def aligned(self, envs: Sequence[int]) -> Rows:
        """ρ|ρ| of each T with so many envs: its alignment, but for a factor that all T share."""
        second_moment = self.mean_sq + self.variance / np.asarray(envs, float)
        rho = self.along / np.sqrt(np.where(second_moment > 0, second_moment, np.nan))
        return rho * np.abs(rho)


@dataclass(frozen=True, eq=False)
class StageEvidence:
    """A stage's evidence, and how much the stage counts.

    weight: the samples of training that it stands for. rho, alignments: of every T at the batch
    that was asked for, with intervals that come from leaving out one chain at a time.
    partner: the same stage's evidence about the other network, where both have to be served.
    """

    name: str
    weight: float
    evidence: Evidence
    rho: tuple[Estimate, ...]
    alignments: tuple[Estimate, ...]
    partner: "StageEvidence | None" = None

    @property
    def counts(self) -> bool:
        """Whether the stage orders the layouts for this network or for its partner."""
        return self.clear or (self.partner is not None and self.partner.clear)

    @property
    def clear(self) -> bool:
        """Whether some layout's gradient surely has a part along the true one.

        A stage without such a layout orders nothing: its ranking is that of luck.
        """
        return any(one.low is not None and one.low > 0 for one in self.rho)

    def harmful(self, place: int) -> bool:
        """Whether a layout's gradient clearly points away from the true one."""
        high = self.rho[place].high
        return high is not None and high < 0

    def shares(self, envs: Sequence[int], price: Rows | float = 1.0) -> Rows:
        """Each T's share of the best alignment, of what it has for its price.

        With a partner it is the smaller of the two: an actor learns from what its critic says, so
        a layout that starves either starves both. Where only one of them is clear, it speaks.
        """
        own = _shares(self.evidence, envs, price)
        if self.partner is None or not self.partner.clear:
            return own
        other = self.partner.shares(envs, price)
        return np.fmin(own, other) if self.clear else other


def _shares(evidence: Evidence, envs: Sequence[int], price: Rows | float) -> Rows:
    # A gradient that points away is as bad as can be, however small the best one is beside it.
    return np.maximum(relative(evidence.aligned(envs) / price), -1.0)


def evidence_of(products: list[Products], draws: int, generator: np.random.Generator) -> Evidence:
    """The evidence in the products of every T, measured on the same chains."""
    chains, groups = common_sizes([Candidate(one, 1) for one in products])
    now, again = leave_one_out(chains, groups), redrawn(chains, draws, generator, groups)
    samples = Samples(
        np.vstack([now.chains[:1], again.chains]), np.vstack([now.groups[:1], again.groups])
    )
    found = [moments_of(one, samples) for one in products]
    along = [
        # Without a unit each T has a reference of its own, by whose length it is divided.
        one.along * own.unit
        if own.unit is not None
        else one.along / np.sqrt(np.where(one.reference_sq > 0, one.reference_sq, np.nan))
        for one, own in zip(found, products, strict=True)
    ]
    return Evidence(
        tuple(one.steps for one in products),
        np.array(along).T,
        np.array([one.mean_sq for one in found]).T,
        np.array([one.variance for one in found]).T,
    )
