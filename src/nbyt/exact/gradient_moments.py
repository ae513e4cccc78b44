"""Mean, variance and bias of one gradient of a rollout, and what follows from them."""

from dataclasses import dataclass

import numpy as np
from jaxtyping import Float

from nbyt.exact.bias import Bias
from nbyt.exact.limits import require_count


@dataclass(frozen=True, eq=False)
class GradientMoments:
    """The gradient of one env's rollout of T steps; with N envs its variances are divided by N.

    variance is the trace of the covariance matrix. individual is the part that T independent
    steps would have, covariance the rest, which may be negative. step_mean_square is the mean
    over the steps of |E g_t|^2. Lengths up to `grain` are rounding and count as 0.
    """

    mean: Float[np.ndarray, " p"]
    variance: float
    individual: float
    reference: Float[np.ndarray, " p"]
    bias: Bias
    step_mean_square: float
    grain: float

    @property
    def covariance(self) -> float:
        """What the steps of one rollout have in common."""
        return self.variance - self.individual

    @property
    def ess_ratio(self) -> float | None:
        """Effective samples per sample; above 1 where the steps' errors cancel."""
        return self.individual / self.variance if self.variance > 0 else None

    @property
    def cosine(self) -> float | None:
        """The cosine between mean gradient and reference; None where either is 0."""
        lengths = np.linalg.norm(self.mean), np.linalg.norm(self.reference)
        if min(lengths) <= self.grain:
            return None
        return float(self.mean @ self.reference / (lengths[0] * lengths[1]))

    @property
    def bias_factor(self) -> float | None:
        """cosine |cosine|: the alignment of infinitely many envs."""
        return None if self.cosine is None else self.cosine * abs(self.cosine)

    def noise_factor(self, envs: int) -> float | None:
        """|E G|^2 / (|E G|^2 + variance / envs), also the cosine to expect of two batches."""
        require_count("envs", envs, 1)
        square = float(self.mean @ self.mean)
        whole = square + self.variance / envs
        return square / whole if whole > 0 else None

    def alignment(self, envs: int) -> float | None:
        """The signed share of the best possible improvement that one step keeps.

        bias factor times noise factor; None where the reference is 0.
        """
        noise = self.noise_factor(envs)
        if noise is None or np.linalg.norm(self.reference) <= self.grain:
            return None
        return 0.0 if self.bias_factor is None else self.bias_factor * noise

    def mse(self, envs: int) -> float:
        """The mean squared distance to the reference."""
        require_count("envs", envs, 1)
        return self.bias.squared + self.variance / envs
