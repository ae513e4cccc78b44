"""Any engine held against nbyt's own: the same weights, the same data, the same numbers."""

from dataclasses import replace
from functools import cache

import numpy as np
from numpy.testing import assert_allclose
from tests.gradients.conftest import CASES, Case, make_case, noise_pool

from nbyt.gradients.chains import phase_products, products_of
from nbyt.gradients.engines import Engine
from nbyt.gradients.engines.own import StageEngine
from nbyt.gradients.reduce import reduce_pool
from nbyt.gradients.spec import GradientSpec, SlabPlan

CHAINS, STEPS = 5, 16
SPEC = GradientSpec((1, 2, 8, 16), (0.9, 0.5), STEPS, 0.95, True, value_coefficient=0.7)
KINDS = ["mlp", "mlp-shared", "gaussian", "cnn", "cnn-shared"]


@cache
def case_of(name: str) -> Case:
    """The policy of that name, made once."""
    return make_case(*CASES[name])


def stage_engine(case: Case) -> StageEngine:
    """The engine that the others are held against."""
    return StageEngine(case.policy, case.params)


def close(one: np.ndarray, other: np.ndarray, size: float = 0.0) -> None:
    """Equal to 1e-4 of the array's own size, or of what it is the small difference of."""
    size = max(size, np.abs(other).max())
    assert_allclose(one, other, rtol=1e-4, atol=1e-4 * size)


def products(engine: Engine, case: Case, spec: GradientSpec, plan: SlabPlan) -> dict:
    """All that an engine says of a pool of noise, by name."""
    pool = noise_pool(case, CHAINS, STEPS + 6)
    found = reduce_pool(engine, pool, spec, plan)
    names = ("square", "step_square", "step_pairs", "means", "cross", "reference")
    made = {
        f"{objective} {field} {k} {m}": getattr(products_of(found, spec, objective, k, m), field)
        for objective in ("actor", "critic", "total")
        for k in range(len(spec.steps))
        for m in range(len(spec.lambdas))
        for field in names
    }
    lags = {f"{name} lags": own.lags for name, own in found.objectives.items()}
    phases = phase_products(engine, pool, found, spec, plan)
    crowds = {f"{n} {p} crowd": one.pairs for n, own in phases.items() for p, one in own.items()}
    return made | lags | crowds


# Compiling nbyt's own program is what takes the time; engines that are held against it share it.
@cache
def own_products(name: str) -> dict:
    """All that nbyt's own engine says of a case."""
    case = case_of(name)
    return products(stage_engine(case), case, _spec(case), SlabPlan(CHAINS, STEPS, (1, 3), 0))


def assert_same_numbers(name: str, engine: Engine) -> None:
    """The engine's products are those of nbyt's own."""
    case, ours = case_of(name), own_products(name)
    assert engine.shared == case.policy.shared
    theirs = products(engine, case, _spec(case), SlabPlan(CHAINS, STEPS, (1, 3), 0))
    assert theirs.keys() == ours.keys() and len(ours) > 100
    for key, value in ours.items():
        objective = key.partition(" ")[0]
        apart = "crowd" in key or "step_pairs" in key
        close(theirs[key], value, ours[f"{objective} square 0 0"].max() if apart else 0.0)


def _spec(case: Case) -> GradientSpec:
    return replace(SPEC, entropy_coefficient=0.3, joined=True) if case.policy.shared else SPEC


def assert_slabs_of_any_size_give_the_same(case: Case, engine: Engine) -> None:
    """Blocks of 3 chains by 4 steps give what one block gives."""
    whole = products(engine, case, SPEC, SlabPlan(CHAINS, STEPS, (), 0))
    cut = reduce_pool(engine, noise_pool(case, CHAINS, STEPS + 6), SPEC, SlabPlan(3, 4, (), 0))
    for k in range(len(SPEC.steps)):
        found = products_of(cut, SPEC, "actor", k, 1)
        close(found.square, whole[f"actor square {k} 1"])
        close(found.means, whole[f"actor means {k} 1"])


def assert_same_gradients_and_directions(case: Case, engine: Engine) -> None:
    """Gradients are as long as those of nbyt's own, and scores along them are the same."""
    own = stage_engine(case)
    seen, action = case.rows(12, 5)
    generator = np.random.default_rng(0)
    weights = {p: generator.normal(size=12) for p in ("actor", "critic", "entropy")}
    first, second = own.gradient(seen, action, weights), engine.gradient(seen, action, weights)
    assert_allclose(np.linalg.norm(first), np.linalg.norm(second), rtol=1e-4)
    # Along its own gradient the weighted scores add to its length, whatever the parameters' order.
    only = {"actor": weights["actor"]}
    for one in (own, engine):
        gradient = one.gradient(seen, action, only)
        along = one.along(seen, action, gradient / np.linalg.norm(gradient))
        assert_allclose(along @ weights["actor"], np.linalg.norm(gradient), rtol=1e-4)
    one, two = (e.along(seen, action, e.gradient(seen, action, only)) for e in (own, engine))
    close(two, one)
