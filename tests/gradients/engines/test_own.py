"""The engine against gradients that are written down, step by step, by JAX's own vmap(grad)."""

import jax
import numpy as np
from jax.flatten_util import ravel_pytree
from numpy.testing import assert_allclose
from tests.gradients.conftest import Case, noise_pool

from nbyt.collect.pool import Pool
from nbyt.gradients.chains import products_of
from nbyt.gradients.engines.own import StageEngine
from nbyt.gradients.reduce import ChainSums, reduce_pool
from nbyt.gradients.slab_sums import LAG_STRIDE
from nbyt.gradients.spec import GradientSpec, SlabPlan, scale_of, weigh
from nbyt.stats.products import Products

_CHAINS, _STEPS, _AHEAD = 5, 16, 6
_AIM = GradientSpec(
    (1, 2, 8, 16),
    (0.9, 0.5),
    _STEPS,
    0.95,
    True,
    value_coefficient=0.7,
    entropy_coefficient=0.3,
    joined=True,
)


def _engine(case: Case) -> StageEngine:
    return StageEngine(case.policy, case.params)


def _scores(case: Case, pool: Pool) -> dict[str, np.ndarray]:
    """Every step's gradient of each part in the space of all weights, [n, L, P]."""

    def outputs(params: object, observation: object, action: object) -> dict[str, jax.Array]:
        parameters = case.policy.parameters(params, observation[None])
        return {
            "actor": case.policy.head.log_prob(parameters, action[None])[0],
            "critic": case.policy.value(params, observation[None])[0],
            "entropy": case.policy.head.entropy(parameters)[0],
        }

    def one(observation: jax.Array, action: jax.Array) -> dict[str, jax.Array]:
        trained = case.params._replace(observation=None)
        jacobian = jax.jacrev(outputs)(trained, observation, action)
        return {part: ravel_pytree(tree)[0] for part, tree in jacobian.items()}

    rows = (pool.observation[:_STEPS].swapaxes(0, 1), pool.action[:_STEPS].swapaxes(0, 1))
    return {k: np.asarray(v, float) for k, v in jax.jit(jax.vmap(jax.vmap(one)))(*rows).items()}


def test_sums_are_what_written_out_gradients_give(case: Case) -> None:
    pool = noise_pool(case, _CHAINS, _STEPS + _AHEAD)
    lags = (1, 3)
    found = reduce_pool(_engine(case), pool, _AIM, SlabPlan(_CHAINS, _STEPS, lags, 0))
    scale = scale_of(pool, _AIM)
    fragment, whole = weigh(pool, _AIM, scale, slice(0, _CHAINS))
    scores = _scores(case, pool)
    assert found.partners.tolist() == [_CHAINS - 1] * _CHAINS
    for objective, own in found.objectives.items():
        for k, m in ((0, 0), (1, 1), (2, 0), (3, 1)):
            g = _weighted({part: w[k, m] for part, w in fragment[objective].items()}, scores)
            _compare(own, products_of(found, _AIM, objective, k, m), g, k, m)
        endless, scaled, fixed = (
            _weighted({part: w[row] for part, w in whole[objective].items()}, scores)
            for row in range(3)
        )
        reference = scaled.mean(axis=1) / scale.spread[2, 1] + fixed.mean(axis=1)
        products = products_of(found, _AIM, objective, 2, 1)
        near = {"rtol": 1e-3, "atol": 1e-4 * np.abs(endless).max() ** 2}
        assert_allclose(products.reference[0], reference @ reference.T, **near)
        assert_allclose(own.endless_square, (endless**2).sum(-1).mean(-1), **near)
        assert_allclose(own.endless_pairs, _pairs(endless), rtol=2e-3, atol=near["atol"])
        for place, lag in enumerate(lags):
            product = (endless[:, :-lag] * endless[:, lag:]).sum(-1)[:, ::LAG_STRIDE]
            assert_allclose(own.lags[place], product.mean(axis=1), **near)


def _weighted(weights: dict[str, np.ndarray], scores: dict[str, np.ndarray]) -> np.ndarray:
    """Contributions g_t, [n, L, P]."""
    return sum(w[..., None] * scores[part] for part, w in weights.items())


def _compare(own: ChainSums, products: Products, g: np.ndarray, k: int, m: int) -> None:
    fragments = g.reshape(_CHAINS, -1, _AIM.steps[k], g.shape[-1]).mean(axis=2)
    means = fragments.mean(axis=1)
    scale = np.abs(g).max() ** 2
    close = {"rtol": 2e-4, "atol": 1e-5 * scale}
    assert_allclose(products.means[0], means @ means.T, **close)
    assert_allclose(own.square[k, m], (fragments**2).sum(-1).mean(-1), **close)
    assert_allclose(own.step_square[k, m], (g**2).sum(-1).mean(-1), **close)
    assert_allclose(own.step_pairs[k, m], _pairs(g), rtol=2e-3, atol=1e-4 * scale)


def _pairs(g: np.ndarray) -> np.ndarray:
    """Each chain's products with all others at the same time, mean over times."""
    same_time = np.einsum("ntp,mtp->nm", g, g) / g.shape[1]
    return same_time.sum(axis=1) - np.diag(same_time)
