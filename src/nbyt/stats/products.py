"""Products: what the gradient engine hands over, inner products of chains and never gradients."""

from dataclasses import dataclass, replace

import numpy as np
from jaxtyping import Float, Int

from nbyt.errors import UsageError
from nbyt.stats.intervals import Replicates, Samples

LEAST = 3


@dataclass(frozen=True)
class Products:
    """Inner products of one gradient's fragments of T steps, chain by chain: all that is needed.

    G_nk is the gradient of fragment k of chain n, S_n its mean over k, and R_n the chain's
    reference, whose mean is G*. P_n is the long-horizon estimate on the same steps as S_n.
    The leading axis G holds independent sketch groups; it is 1 where the products are exact.
    """

    steps: int
    square: Float[np.ndarray, "#G n"]
    """Mean over k of |G_nk|²."""
    step_square: Float[np.ndarray, "#G n"]
    """Mean over the chain's steps of |g_t|²."""
    step_pairs: Float[np.ndarray, "#G n"]
    """Mean over times of the sum over partners m of <g_nt, g_mt>: same time, other chains."""
    partners: Int[np.ndarray, " n"]
    """How many partners chain n has in step_pairs. If m is a partner of n, n is one of m."""
    means: Float[np.ndarray, "#G n n"]
    """<S_n, S_m>."""
    cross: Float[np.ndarray, "#G n n"]
    """<S_n, R_m>."""
    reference: Float[np.ndarray, "#G n n"]
    """<R_n, R_m>."""
    advantage_part: Float[np.ndarray, "#G n n"] | None = None
    """Gram matrix of S_n - P_n. Known for synchronised starts only."""
    phase_part: Float[np.ndarray, "#G n n"] | None = None
    """Gram matrix of P_n - R_n."""
    unit: float | None = 1.0
    """What the reference was divided by, as the advantages of this T were, so that lengths along
    it can be compared between T. None if it differs from T to T in more than its length."""

    def __post_init__(self) -> None:
        if self.chains < LEAST:
            raise UsageError(
                f"{self.chains} chains are too few: leaving one out must leave a pair",
                where="chains",
                fix=f"measure at least {LEAST} chains; 64 or more give dependable intervals",
            )
        if self.steps > 1 and self.partners.sum() <= 2 * self.partners.max():
            raise UsageError(
                f"the partners of the chains are {self.partners.tolist()}: leaving one chain out "
                "leaves no pair of chains at the same time",
                where="partners",
                fix="put at least 3 chains, or two pairs of them, into the same blocks",
            )

    @property
    def chains(self) -> int:
        """Return how many independent chains the products come from."""
        return int(self.square.shape[-1])

    @property
    def groups(self) -> int:
        """Return how many independent sketches the products come from; 1 if they are exact."""
        fields = (self.square, self.step_square, self.step_pairs)
        return max(len(field) for field in (*fields, self.means, self.cross, self.reference))

    @property
    def difference(self) -> Float[np.ndarray, "#G n n"]:
        """Return the Gram matrix of S_n - R_n, whose mean is the bias of the gradient."""
        crossed = np.asarray(self.cross, float)
        return np.asarray(self.means - crossed - crossed.swapaxes(-1, -2) + self.reference)


def side_by_side(actor: Products, critic: Products, coefficient: float) -> Products:
    """Combine products of two gradients in different parameters, the second one weighed."""
    names = ["square", "step_square", "step_pairs", "means", "cross", "reference"]
    names += [] if actor.phase_part is None else ["advantage_part", "phase_part"]
    summed = {name: getattr(actor, name) + coefficient**2 * getattr(critic, name) for name in names}
    return replace(actor, **summed)


@dataclass(frozen=True)
class PoolMoments:
    """Averages of one gradient, each an array over samples of the chains.

    Squares of means are means over pairs of different chains, so each moment is unbiased:
    correlation between the fragments of one chain does not enter.
    """

    square: Replicates
    """E|G|², over the fragments of a chain and over chains."""
    mean_sq: Replicates
    """u = |E G|²."""
    along: Replicates
    """x = G* · E G."""
    reference_sq: Replicates
    """y = |G*|²."""

    @property
    def variance(self) -> Replicates:
        """Return V(T) = tr Cov(G) of one env: E|G|² - |E G|². N envs have V(T) / N."""
        return np.asarray(self.square - self.mean_sq)

    def second_moment(self, envs: int | float) -> Replicates:
        """Return z = |E G|² + V(T) / N: the mean squared length of the gradient of N envs."""
        return self.mean_sq + self.variance / envs


def moments_of(products: Products, samples: Samples) -> PoolMoments:
    return PoolMoments(
        square=samples.mean(products.square),
        mean_sq=samples.mean_of_pairs(products.means),
        along=samples.mean_of_pairs(products.cross),
        reference_sq=samples.mean_of_pairs(products.reference),
    )


def step_variance(products: Products, samples: Samples) -> Replicates:
    """Return mean over steps of tr Var(g_t), in samples that leave out at most one chain.

    E|g_t|² less the mean product of different chains at the same time. A chain left out takes its
    products with it twice, as chain and as partner: hence twice the sum, less the total.
    """
    weights = 2 * samples.chains - 1
    pairs = np.asarray(products.step_pairs, float) @ weights.T
    square = samples.mean(products.step_square)
    return np.asarray(square - samples.over_groups(pairs / (weights @ products.partners)))
