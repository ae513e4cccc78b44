"""Laws of the summary: scale free, free of nan, and each interval covers as often as it says."""

import json
import math
from dataclasses import fields

import numpy as np
import pytest
from gradient_vectors import (
    Vectors,
    alignment,
    bias_factor,
    bias_sq,
    jackknife,
    over_pairs,
    random_vectors,
    variance,
    vectors,
)
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats as scipy_stats

from nbyt.stats import GradientEstimates, Products, describe
from nbyt.stats.estimate import added, undetermined
from nbyt.stats.intervals import correlation, ratio_set, within
from nbyt.stats.summary import NO_SHARE, _share, describe_batch

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


def strong(chains: int, seed: int) -> Vectors:
    return random_vectors(chains, 3, 2, 5, seed, signal=3.0)


def literal_set(x, length, chains) -> tuple[float, float] | None:
    return within(ratio_set(x, np.sqrt(length), chains), -1.0, 1.0)


@settings(max_examples=20)
@given(st.integers(6, 9), st.integers(0, 10**6), st.integers(1, 100))
def test_values_and_sets_are_those_of_the_vectors(chains, seed, envs) -> None:
    v = strong(chains, seed)
    found = describe(v.products(), envs)
    x = jackknife(v, lambda w: over_pairs(w.means, w.references))
    y = jackknife(v, lambda w: over_pairs(w.references, w.references))
    u = jackknife(v, lambda w: over_pairs(w.means, w.means))
    z = u + jackknife(v, variance) / envs
    assert found.bias_factor.value == pytest.approx(bias_factor(v))
    assert found.alignment.value == pytest.approx(alignment(v, envs))
    assert found.cosine.value == pytest.approx(x[0] / math.sqrt(u[0] * y[0]))
    assert found.noise_factor.value == pytest.approx(u[0] / z[0])
    product = found.bias_factor.value * found.noise_factor.value
    assert found.alignment.value == pytest.approx(product)
    for estimate, length in ((found.bias_factor, u * y), (found.alignment, y * z)):
        expected = literal_set(x, length, chains)
        if expected is not None:
            bounds = np.array(expected) * np.abs(expected)
            np.testing.assert_allclose((estimate.low, estimate.high), bounds, rtol=1e-5)


def test_where_a_length_is_lost_without_one_chain_the_squares_decide() -> None:
    """One chain carries the reference: without it |G*|² is negative and has no root."""
    v = random_vectors(12, 2, 2, 6, seed=2, signal=3.0)
    references = 0.02 * np.random.default_rng(1).normal(size=v.references.shape)
    references[:2] += 3.0
    alone = Vectors(v.contributions, references, v.blocks)
    x = jackknife(alone, lambda w: over_pairs(w.means, w.references))
    y = jackknife(alone, lambda w: over_pairs(w.references, w.references))
    u = jackknife(alone, lambda w: over_pairs(w.means, w.means))
    assert y[0] > 0 and not np.all(y > 0)
    expected = within(ratio_set(x * np.abs(x), u * y, 12), -1.0, 1.0)
    found = describe(alone.products(), 8).bias_factor
    np.testing.assert_allclose((found.low, found.high), expected, rtol=1e-6)


@settings(max_examples=10)
@given(st.integers(0, 10**6))
def test_the_opposite_gradient_has_the_opposite_sign(seed) -> None:
    v = strong(20, seed)
    there = describe(v.products(), 8)
    back = describe(Vectors(v.contributions, -v.references, v.blocks).products(), 8)
    for name in ("cosine", "bias_factor", "alignment"):
        one, other = getattr(there, name), getattr(back, name)
        assert other.value == pytest.approx(-one.value)
        assert (other.low, other.high) == pytest.approx((-one.high, -one.low))
    assert back.noise_factor == there.noise_factor


def test_a_gradient_equal_to_its_reference_has_cosine_one() -> None:
    v = strong(64, 1)
    found = describe(Vectors(v.contributions, v.means, v.blocks).products(), 16)
    for estimate in (found.cosine, found.bias_factor):
        numbers = (estimate.value, estimate.low, estimate.high)
        np.testing.assert_allclose(numbers, 1, atol=1e-6)
    assert found.alignment.value == pytest.approx(found.noise_factor.value)
    assert found.bias_sq.value == pytest.approx(0, abs=1e-12)


def test_estimates_may_pass_one_and_intervals_may_not() -> None:
    passed = 0
    for seed in range(20):
        v = random_vectors(64, 2, 2, 6, seed, signal=1.0)
        exact = Vectors(v.contributions, np.tile(v.means.mean(0), (64, 1)), v.blocks)
        found = describe(exact.products(), 16)
        passed += found.cosine.value > 1
        for estimate in (found.cosine, found.bias_factor, found.alignment):
            assert -1 <= estimate.low <= estimate.high <= 1
    assert passed > 0


def test_noise_alone_leaves_alignment_undetermined() -> None:
    found = describe(random_vectors(64, 2, 2, 6, seed=4, signal=0.0).products(), 16)
    assert found.alignment.value is None
    assert (found.alignment.low, found.alignment.high) == (-1, 1)
    assert "from -1 to 1" in found.alignment.reason or "not above 0" in found.alignment.reason
    assert str(found.alignment) == f"undetermined ({found.alignment.reason})"


def test_without_a_reference_there_is_a_noise_factor_and_no_direction() -> None:
    v = strong(64, 2)
    found = describe(Vectors(v.contributions, 0 * v.references, v.blocks).products(), 16)
    assert found.noise_factor.value > 0
    for estimate in (found.cosine, found.bias_factor, found.alignment):
        assert estimate.value is None and estimate.reason == "the reference gradient is zero"


def test_a_zero_gradient_has_a_bias_and_no_direction() -> None:
    v = strong(64, 3)
    found = describe(Vectors(0 * v.contributions, v.references, v.blocks).products(), 16)
    assert found.variance.value == 0
    assert found.bias_sq.value == pytest.approx(over_pairs(v.references, v.references))
    assert found.mse == found.bias_sq
    for estimate in (found.cosine, found.bias_factor, found.noise_factor, found.alignment):
        assert estimate.value is None and estimate.reason == "the gradient is zero"


def test_a_reference_lost_in_noise_is_named() -> None:
    for seed in range(30):
        v = strong(64, seed)
        noise = np.random.default_rng(seed).normal(size=v.references.shape)
        found = describe(Vectors(v.contributions, noise, v.blocks).products(), 16)
        if over_pairs(noise, noise) <= 0:
            assert found.alignment.value is None
            assert "|G*|²" in found.alignment.reason or "from -1" in found.alignment.reason
            return
    pytest.fail("no seed gave a reference whose squared length came out negative")


def test_few_directions_of_spread_make_a_cosine_approximate() -> None:
    many, few = random_vectors(64, 2, 2, 30, 5, 2.0), random_vectors(64, 2, 2, 2, 5, 2.0)
    assert describe(few.products(), 4).cosine.approximate
    turned = Vectors(many.contributions, many.references + np.linspace(-2, 2, 30), many.blocks)
    assert not describe(turned.products(), 4).cosine.approximate


@pytest.mark.parametrize(
    ("ratio", "share"), [(3.0, 0.75), (math.inf, 1), (0.0, 0), (-0.2, 0), (-3.0, 0), (-math.inf, 0)]
)
def test_the_noise_factor_of_a_negative_estimate_is_zero(ratio, share) -> None:
    assert _share(ratio) == pytest.approx(share)


STREAMS, STEPS = 8, 4
SIGNALS = (0.0, 0.1, 1.0)


def batches(signal: float) -> list[tuple[float, object]]:
    """The unbiased estimate of |E g|², and what is said of the batch, for 60 batches."""
    made = [random_vectors(STREAMS, 1, STEPS, 6, seed, signal) for seed in range(60)]
    return [
        (over_pairs(one.means, one.means), describe_batch(one.products(), STREAMS)) for one in made
    ]


@pytest.mark.parametrize("signal", SIGNALS)
def test_a_noise_factor_is_a_share_or_undetermined_with_its_reason(signal: float) -> None:
    for _, found in batches(signal):
        noise = found.noise_factor
        if noise.value is None:
            assert noise.reason and noise.low is None and noise.high is None
        else:
            assert 0 <= noise.low <= noise.value <= noise.high <= 1


def test_without_signal_the_estimate_is_zero_and_never_certain() -> None:
    negative = [found for square, found in batches(0.0) if square < 0]
    assert len(negative) > 10
    for found in negative:
        assert found.noise_factor.value in (0.0, None)
        assert found.noise_factor.high != 0.0
        assert found.noise_scale.value is None and found.noise_scale.reason


def test_streams_that_cancel_each_other_by_more_than_chance_determine_nothing() -> None:
    one = random_vectors(STREAMS, 1, STEPS, 6, 1, 0.0)
    cancelled = Vectors(one.contributions - one.contributions.mean(0), one.references, one.blocks)
    found = describe_batch(cancelled.products(), STREAMS)
    assert found.noise_factor == undetermined(NO_SHARE, STREAMS)
    assert found.noise_scale == undetermined(NO_SHARE, STREAMS)


def test_the_noise_scale_follows_from_the_noise_factor() -> None:
    for square, found in batches(1.0):
        noise, scale = found.noise_factor, found.noise_scale
        if square > 0:
            ends = [STREAMS * STEPS * (1 / f - 1) for f in (noise.value, noise.high)]
            np.testing.assert_allclose((scale.value, scale.low), ends)
