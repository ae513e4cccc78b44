"""Laws of the summary: scale free, free of nan, and each interval covers as often as it says."""

import json
import math
from dataclasses import fields

import numpy as np
import pytest
from gradient_vectors import Vectors, bias_sq, jackknife, random_vectors, variance, vectors
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats as scipy_stats

from nbyt.stats import GradientEstimates, Products, describe
from nbyt.stats.estimate import added
from nbyt.stats.intervals import correlation

NAMES = [field.name for field in fields(GradientEstimates)]
SQUARES = NAMES[:3] + NAMES[4:6]
SETS = 200
LAW = scipy_stats.binom(SETS, 0.95)


def test_the_ten_names_are_those_that_json_promises() -> None:
    words = (
        "individual covariance variance ess_ratio bias_sq mse "
        "cosine bias_factor noise_factor alignment"
    )
    assert " ".join(NAMES) == words
    found = describe(random_vectors(9, 2, 2, 3, seed=0).products(), 4).as_dict()
    assert list(found) == NAMES
    assert all({"value", "low", "high"} <= part.keys() for part in found.values())


@settings(max_examples=50)
@given(vectors(), st.integers(1, 10**6), st.sampled_from([0.0, 1.0]))
def test_nothing_is_nan_and_whatever_is_missing_has_a_reason(v: Vectors, envs, factor) -> None:
    found = describe(v.times(factor).products(), envs)
    for part in found.as_dict().values():
        json.dumps(part, allow_nan=False)
        if None in part.values():
            assert part["reason"]
        if part["low"] is not None and part["high"] is not None:
            assert part["low"] <= part["high"]


@settings(max_examples=30)
@given(st.integers(0, 10**6), st.sampled_from([1e-8, 1e8]), st.sampled_from([0.0, 2.0]))
def test_everything_scales_with_the_gradient(seed, factor, signal) -> None:
    v = random_vectors(12, 2, 3, 5, seed, signal)
    one, other = describe(v.products(), 8), describe(v.times(factor).products(), 8)
    for name in NAMES:
        first, second = getattr(one, name), getattr(other, name)
        assert (first.reason, first.approximate) == (second.reason, second.approximate)
        power = factor**2 if name in SQUARES else 1.0
        for before, after in zip(*(numbers(part) for part in (first, second)), strict=True):
            if before is not None:
                assert after == pytest.approx(before * power, rel=1e-5, abs=1e-7 * power)
            else:
                assert after is None


def numbers(estimate) -> tuple[float | None, ...]:
    return estimate.value, estimate.low, estimate.high


def test_few_chains_are_called_approximate() -> None:
    few = describe(random_vectors(63, 2, 2, 30, 1, 2.0).products(), 8)
    many = describe(random_vectors(64, 2, 2, 30, 1, 2.0).products(), 8)
    assert all(getattr(few, name).approximate for name in NAMES)
    assert not any(getattr(many, name).approximate for name in [*SQUARES, "ess_ratio"])


def test_more_envs_than_chains_divide_the_variance_all_the_same() -> None:
    products = random_vectors(64, 2, 2, 5, seed=3).products()
    one, million = describe(products, 1), describe(products, 10**6)
    assert million.variance.value == pytest.approx(one.variance.value / 1e6)
    assert million.noise_factor.value > one.noise_factor.value
    assert million.mse.value == pytest.approx(million.bias_sq.value + million.variance.value)


def test_the_mean_squared_error_knows_how_bias_and_variance_go_together() -> None:
    v = random_vectors(12, 2, 3, 4, seed=3)
    found = describe(v.products(), 2)
    linked = correlation(jackknife(v, bias_sq), jackknife(v, variance), 12)
    expected = added(found.bias_sq, found.variance, linked)
    assert numbers(found.mse) == pytest.approx(numbers(expected))
    assert abs(linked) > 0.1


class ReplaySource:
    """Contributions with a known truth: correlated in time, of a given law and mean."""

    chains, fragments, steps, parameters, envs = 64, 2, 4, 12, 64

    def __init__(self, law: str, seed: int) -> None:
        self.generator, self.law = np.random.default_rng(seed), law
        self.mean = np.full(self.parameters, 0.4)
        self.reference = self.mean + 0.25 * np.resize([1.0, -1.0, 1.0], self.parameters)

    def noise(self, *shape: int) -> np.ndarray:
        drawn = self.generator.normal(size=(*shape, self.parameters))
        if self.law == "heavy":
            drawn *= self.generator.laplace(size=(*shape, 1)) / math.sqrt(2)
        return drawn

    def draw(self) -> Products:
        fresh = self.noise(self.chains, self.fragments, self.steps)
        common = self.noise(self.chains, self.fragments, 1)
        contributions = self.mean + 0.8 * fresh + 0.6 * common
        shared = contributions.mean((1, 2)) - self.mean
        references = self.reference + shared + 0.3 * self.noise(self.chains)
        blocks = np.arange(self.chains) // 8
        return Vectors(contributions, references, blocks).products()

    def truth(self) -> dict[str, float]:
        """Each parameter varies by 0.64/T + 0.36, of which (0.64 + 0.36)/T are the steps' own."""
        steps, parameters = self.steps, self.parameters
        variance = parameters * (0.64 / steps + 0.36) / self.envs
        individual = parameters * (0.64 + 0.36) / steps / self.envs
        x, y, u = self.mean @ self.reference, self.reference @ self.reference, self.mean @ self.mean
        bias = y - 2 * x + u
        return {
            "individual": individual,
            "covariance": variance - individual,
            "variance": variance,
            "ess_ratio": individual / variance,
            "bias_sq": bias,
            "mse": bias + variance,
            "cosine": x / math.sqrt(u * y),
            "bias_factor": x * abs(x) / (u * y),
            "noise_factor": u / (u + variance),
            "alignment": x * abs(x) / (y * (u + variance)),
        }


@pytest.fixture(scope="module", params=["normal", "heavy"])
def seen(request) -> tuple[list[GradientEstimates], dict[str, float]]:
    world = ReplaySource(request.param, seed=11)
    return [describe(world.draw(), world.envs) for _ in range(SETS)], world.truth()


@pytest.mark.parametrize("name", NAMES)
def test_95_percent_intervals_cover_95_percent(seen, name) -> None:
    found, truth = seen
    parts = [getattr(estimates, name) for estimates in found]
    hits = sum(part.low <= truth[name] <= part.high for part in parts)
    assert LAW.ppf(0.0005) <= hits <= LAW.ppf(0.9995)
    widths = [part.high - part.low for part in parts]
    spread = np.std([part.value for part in parts])
    # Covering must not come from intervals that say nothing.
    assert np.median(widths) < 6 * spread


def test_a_sketch_keeps_the_coverage_and_adds_its_error() -> None:
    world = ReplaySource("normal", seed=12)
    truth, hits = world.truth(), dict.fromkeys(NAMES, 0)
    for _ in range(100):
        exact = world.draw()
        found = describe(sketched(exact, world.generator), world.envs)
        for name in NAMES:
            part = getattr(found, name)
            hits[name] += part.low <= truth[name] <= part.high
    law = scipy_stats.binom(100, 0.95)
    assert all(count >= law.ppf(0.0005) for count in hits.values()), str(hits)


def sketched(products: Products, generator: np.random.Generator) -> Products:
    """The same products seen through 8 independent sketches of 16 random signs each."""
    gram = np.block(
        [[products.means[0], products.cross[0]], [products.cross[0].T, products.reference[0]]]
    )
    values, directions = np.linalg.eigh(gram)
    both = directions * np.sqrt(np.maximum(values, 0))
    signs = generator.choice([-1.0, 1.0], (8, both.shape[1], 16)) / 4
    short = both @ signs
    means, references = short[:, : products.chains], short[:, products.chains :]
    return Products(
        products.steps,
        products.square,
        products.step_square,
        products.step_pairs,
        products.partners,
        means @ means.swapaxes(1, 2),
        means @ references.swapaxes(1, 2),
        references @ references.swapaxes(1, 2),
    )
