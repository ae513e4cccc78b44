"""From a pool's products to every interval that a report prints of them."""

from dataclasses import fields, replace

from benchmarks.calibration.cases import Case
from benchmarks.calibration.pools import Pooled
from benchmarks.calibration.truths import GRADIENTS, SQUARED, Key, spread
from nbyt.rng import numpy_stream
from nbyt.stats.estimate import Estimate
from nbyt.stats.lags import PhaseProducts, lag_profile, phase_variance
from nbyt.stats.pool import explained_variance
from nbyt.stats.products import Products
from nbyt.stats.ranking import Candidate, compare, rank
from nbyt.stats.summary import GradientEstimates, describe
from nbyt.stats.variance import bias_parts

Found = dict[Key, Estimate]

_SUMS = ("square", "step_square", "step_pairs", "means", "cross", "reference")
_PARTS = ("advantage_part", "phase_part")


class Estimator:
    """Estimates of one case's pools."""

    def __init__(self, case: Case) -> None:
        self._case = case
        self._envs = {steps: case.control.batch // steps for steps in case.steps}
        self._weight = case.request(0).value_coefficient ** 2
        self._spreads = [spread(case, t) if case.normalise else 1.0 for t in case.steps]

    def estimates(self, pooled: Pooled, place: int) -> Found:
        """Every interval of one pool; `place` seeds what a ranking redraws."""
        products = dict(pooled.products)
        phase = dict(pooled.phase)
        for k in range(len(self._case.steps)):
            if ("total", k) not in products:
                both = products["actor", k], products["critic", k]
                products["total", k] = side_by_side(*both, self._weight)
            if ("actor", k) in phase and ("total", k) not in phase:
                phase["total", k] = self._phases(phase["actor", k], phase["critic", k])
        if self._case.normalise:
            units = {"critic": [1.0] * len(pooled.spread), "total": [None] * len(pooled.spread)}
            units["actor"] = [float(one) for one in pooled.spread]
            products = {at: replace(p, unit=units[at[0]][at[1]]) for at, p in products.items()}
        found = self._layouts(products, pooled) | self._compared(products, place)
        found[0, "", "explained_variance"] = explained_variance(pooled.critic)
        for (name, k), part in phase.items():
            found[self._case.steps[k], name, "phase"] = phase_variance(part)
        for name, lags in pooled.lags.items():
            profile = lag_profile(lags)
            for lag, one in zip(profile.lags, profile.within, strict=True):
                found[0, name, f"lag_{lag}"] = one
            found[0, name, "across"] = profile.across
        return found

    def _layouts(self, products: dict[tuple[str, int], Products], pooled: Pooled) -> Found:
        found: Found = {}
        for (name, k), own in products.items():
            told = describe(own, self._envs[own.steps])
            # The scale of the pool's own advantages, where it is not the true one.
            scale = (float(pooled.spread[k]) / self._spreads[k]) ** 2
            for field in fields(GradientEstimates):
                one = getattr(told, field.name)
                if self._case.normalise and name == "actor" and field.name in SQUARED:
                    found[own.steps, name, f"printed_{field.name}"] = one
                    one = _times(one, scale)
                found[own.steps, name, field.name] = one
            if self._case.start == "reset":
                parts = bias_parts(own)
                found[own.steps, name, "bias_sq_advantage"] = parts.advantage
                found[own.steps, name, "bias_sq_phase"] = parts.phase
        return found

    def _compared(self, products: dict[tuple[str, int], Products], place: int) -> Found:
        """The shortest T against each other T; and what each T would lose, where asked for."""
        found: Found = {}
        steps = self._case.steps
        for name in GRADIENTS:
            candidates = [Candidate(products[name, k], self._envs[t]) for k, t in enumerate(steps)]
            for t, other in zip(steps[1:], candidates[1:], strict=True):
                compared = compare(candidates[0], other)
                found[t, name, "rho_difference"] = compared.difference
                found[t, name, "rho_ratio"] = compared.ratio
            if self._case.ranking and name == "actor":
                regrets = rank(candidates, numpy_stream(place, "rank.actor")).regret
                for t, regret in zip(steps, regrets, strict=True):
                    found[t, name, "regret"] = regret
        return found

    def _phases(self, actor: PhaseProducts, critic: PhaseProducts) -> PhaseProducts:
        return PhaseProducts(
            actor.pairs + self._weight * critic.pairs,
            actor.overall + self._weight * critic.overall,
        )


def side_by_side(actor: Products, critic: Products, weight: float) -> Products:
    """The products of two gradients in different parameters, as nbyt.gradients.reduce has it."""
    names = [*_SUMS, *(() if actor.phase_part is None else _PARTS)]
    summed = {name: getattr(actor, name) + weight * getattr(critic, name) for name in names}
    return replace(actor, **summed)


def _times(one: Estimate, factor: float) -> Estimate:
    low, value, high = (x if x is None else factor * x for x in (one.low, one.value, one.high))
    return replace(one, low=low, value=value, high=high)
