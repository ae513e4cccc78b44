"""Products of gradients from layers alone, against gradients that are written out."""

import jax
import numpy as np
import pytest
from jax.flatten_util import ravel_pytree
from numpy.testing import assert_allclose
from tests.gradients.comparing import case_of
from tests.gradients.conftest import Case

from nbyt.gradients.products import (
    Layer,
    gram,
    group_sums,
    grouped,
    layers,
    many_sums,
    paired,
    size,
)

PARTS = ("actor", "critic", "entropy")
GROUPS, STEPS = 2, 3


def written_out(case: Case, seen: np.ndarray, action: np.ndarray) -> dict[str, np.ndarray]:
    """Every step's gradient of each part, [B, t, P]."""
    policy, trained = case.policy, case.params._replace(observation=None)

    def outputs(params: object, seen: jax.Array, action: jax.Array) -> dict[str, jax.Array]:
        parameters = policy.parameters(params, seen[None])
        return {
            "actor": policy.head.log_prob(parameters, action[None])[0],
            "critic": policy.value(params, seen[None])[0],
            "entropy": policy.head.entropy(parameters)[0],
        }

    jacobian = jax.jit(jax.vmap(jax.jacrev(outputs), (None, 0, 0)))(trained, seen, action)
    flat = jax.vmap(lambda tree: ravel_pytree(tree)[0])
    return {part: np.asarray(flat(jacobian[part])).reshape(GROUPS, STEPS, -1) for part in PARTS}


def layers_of(case: Case, seen: np.ndarray, action: np.ndarray) -> list[Layer]:
    """The layers in groups of steps."""
    found = jax.jit(lambda *rows: layers(case.policy, case.params, *rows, PARTS))(seen, action)
    return grouped(found, GROUPS)


@pytest.mark.parametrize("name", ["gaussian", "mlp-shared", "cnn", "table"])
def test_they_are_those_of_written_out_gradients(name: str) -> None:
    case = case_of(name)
    seen, action = case.rows(GROUPS * STEPS, 3)
    truth = written_out(case, seen, action)
    made = grouped(
        jax.jit(lambda *rows: layers(case.policy, case.params, *rows, PARTS))(seen, action), GROUPS
    )
    assert size(made) == truth["actor"].shape[-1]
    close = {"rtol": 1e-4, "atol": 1e-4 * max(np.abs(g).max() for g in truth.values()) ** 2}
    for a in PARTS:
        for b in PARTS:
            expected = np.einsum("btp,bsp->bts", truth[a], truth[b])
            if np.abs(expected).max() > 0:
                assert_allclose(gram(made, a, b), expected, **close)
            same_step = np.einsum("btp,btp->bt", truth[a], truth[b])
            assert_allclose(paired(made, made, a, b) + 0 * same_step, same_step, **close)


def test_sums_are_weighted_sums_of_all_parts() -> None:
    case = case_of("mlp-shared")
    seen, action = case.rows(GROUPS * STEPS, 4)
    truth = written_out(case, seen, action)
    made = layers_of(case, seen, action)
    generator = np.random.default_rng(0)
    weights = {part: generator.normal(size=(4, GROUPS, STEPS)).astype("f") for part in PARTS}
    norms = [
        (sum(np.einsum("bt,btp->bp", w[j], truth[part]) for part, w in weights.items()) ** 2).sum(1)
        for j in range(4)
    ]
    # The layers have an order of their own, so norms are compared.
    many = many_sums(made, weights)
    assert_allclose((np.asarray(many) ** 2).sum(-1), norms, rtol=1e-3)
    first = group_sums(made, {part: w[0] for part, w in weights.items()})
    assert_allclose(first, many[0], rtol=1e-4, atol=1e-5)
