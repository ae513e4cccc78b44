"""Laws of stages as files: what is written comes back, and nothing else is believed."""

import copy
import json
from functools import cache

import jax
import numpy as np
import pytest
from gymnasium.spaces import Box, Discrete, MultiDiscrete
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st

from nbyt.errors import StoreError
from nbyt.policy.actor_critic import Stage, build, table
from nbyt.policy.files import describe, read_stage, require_env, stage_files
from nbyt.policy.networks import parse_network
from nbyt.store.files import STAGE
from nbyt.store.run import open_run

SPACES = {
    "vector": Box(-np.inf, np.inf, (3,)),
    "image": Box(0, 255, (8, 9, 3), np.uint8),
    "channels": Box(0, 255, (3, 8, 9), np.uint8),
    "large": Box(0, 255, (40, 40, 1), np.uint8),
    "index": Discrete(5),
}
ACTIONS = {
    "discrete": Discrete(3),
    "multidiscrete": MultiDiscrete([2] * 40),
    "box": Box(np.array([-np.inf, 0.1], np.float32), np.array([1.0, np.inf], np.float32)),
}
NETWORKS = [
    ("vector", "16x8"),
    ("vector", "9x9x9x9x9x9x9x9x9x9"),
    ("image", "cnn"),
    ("channels", "cnn"),
    ("image", "8"),
    ("index", "8"),
    ("index", "table"),
]


@cache
def stage_of(observation, actions, network, shared=False, moments=False) -> Stage:
    """A stage with random parameters."""
    words = parse_network(network, "swish")
    policy = build(SPACES[observation], ACTIONS[actions], words, shared=shared)
    template = jax.eval_shape(lambda: policy.init(None, normalise_observations=moments))
    generator = np.random.default_rng(0)
    params = jax.tree.map(lambda x: generator.random(x.shape, np.float32).astype(x.dtype), template)
    return Stage(policy, params, {"env": "gym:Toy-v0", "policy": describe(policy)})


def written(folder, tensors, facts):
    """The path of a stage with these tensors and facts, sealed as nbyt seals."""
    run = open_run(folder, {"seed": 0})
    run.write(STAGE, (tensors, facts), 1)
    return run.path_of(STAGE, 1)


def assert_same(found: Stage, stage: Stage) -> None:
    assert found.policy == stage.policy
    assert jax.tree.structure(found.params) == jax.tree.structure(stage.params)
    for a, b in zip(jax.tree.leaves(found.params), jax.tree.leaves(stage.params), strict=True):
        assert a.dtype == b.dtype
        np.testing.assert_array_equal(a, b)


@pytest.mark.parametrize("actions", ACTIONS)
@pytest.mark.parametrize("shared", [False, True])
@pytest.mark.parametrize(("observation", "network"), NETWORKS)
def test_a_stage_comes_back_as_it_was(observation, network, shared, actions, tmp_path) -> None:
    if network == "table" and actions == "box":
        return
    stage = stage_of(observation, actions, network, shared, observation == "vector")
    path = written(tmp_path, stage_files(stage)[0], stage.facts)
    found = read_stage(path)
    assert_same(found, stage)
    assert found.facts == json.loads(json.dumps(stage.facts))


def test_a_large_image_comes_back_as_it_was(tmp_path) -> None:
    stage = stage_of("large", "discrete", "cnn")
    assert_same(read_stage(written(tmp_path, stage_files(stage)[0], stage.facts)), stage)


def test_tables_are_called_logits_and_values(tmp_path) -> None:
    stage = table([[0.0, 1.0], [2.0, 3.0]], [5.0, 6.0])
    tensors = stage_files(stage)[0]
    assert tensors.keys() == {"logits", "values"}
    np.testing.assert_array_equal(tensors["logits"], [[0, 1], [2, 3]])
    np.testing.assert_array_equal(tensors["values"], [5, 6])
    assert_same(read_stage(written(tmp_path, tensors, {"policy": describe(stage.policy)})), stage)


def renamed(tensors, old, new):
    return {new if name == old else name: array for name, array in tensors.items()}


HEAD = "actor/head/w"
DAMAGE = {
    "missing": (lambda t: {k: v for k, v in t.items() if k != HEAD}, f"'{HEAD}' is missing"),
    "extra": (lambda t: {**t, "more": np.zeros(1)}, "'more' is not expected"),
    "renamed": (lambda t: renamed(t, HEAD, "actor/head/v"), "is not expected|is missing"),
    "shape": (lambda t: {**t, HEAD: t[HEAD].T}, rf"'{HEAD}' is float32\[.*expected float32\["),
    "size": (lambda t: {**t, HEAD: t[HEAD][:-1]}, rf"'{HEAD}' is float32"),
    "dtype": (lambda t: {**t, HEAD: t[HEAD].astype(float)}, rf"'{HEAD}' is float64"),
    "half a normalisation": (
        lambda t: {**t, "observation/mean": np.zeros(3, np.float32)},
        "'observation/seen' is missing|'observation/variance' is missing",
    ),
    "empty": (lambda t: {}, "is missing"),
}


@pytest.mark.parametrize("case", DAMAGE)
def test_other_tensors_are_refused_by_name(case, tmp_path) -> None:
    stage = stage_of("vector", "discrete", "16x8")
    damage, message = DAMAGE[case]
    path = written(tmp_path, damage(stage_files(stage)[0]), stage.facts)
    with pytest.raises(StoreError, match=message) as error:
        read_stage(path)
    assert str(path) in error.value.where


def changed(form, *places, to):
    """The form with one place changed; `to` a function or a value."""
    form = copy.deepcopy(form)
    inner = form
    for place in places[:-1]:
        inner = inner[place]
    inner[places[-1]] = to
    return form


ALTERED = {
    "kind": ("kind", "sound"),
    "image without convolutions": ("kind", "image"),
    "shape": ("shape", [4]),
    "shape empty": ("shape", []),
    "shape negative": ("shape", [-3]),
    "shape zero": ("shape", [0]),
    "shape a flag": ("shape", [True]),
    "shape a fraction": ("shape", [3.0]),
    "shape huge": ("shape", [2**40]),
    "shape long": ("shape", [1] * 500),
    "head": ("head", "family", "Cauchy"),
    "head unhashable": ("head", "family", []),
    "head's actions": ("head", "actions", 4),
    "head's actions huge": ("head", "actions", 10**400),
    "network": ("network", "kind", "lstm"),
    "network without layers": ("network", "widths", []),
    "network's widths": ("network", "widths", [16, 9]),
    "network's widths many": ("network", "widths", [1] * 5000),
    "network a CNN": ("network", "kind", "cnn"),
    "network a table": ("network", "kind", "table"),
    "activation": ("network", "activation", "__import__"),
    "shared": ("shared", True),
    "shared a number": ("shared", 1),
    "channels": ("channels_first", True),
    "nothing": ("network", None),
}


@pytest.mark.parametrize("case", ALTERED)
def test_an_altered_form_is_refused(case, tmp_path) -> None:
    stage = stage_of("vector", "discrete", "16x8")
    *places, value = ALTERED[case]
    form = changed(stage.facts["policy"], *places, to=value)
    path = written(tmp_path, stage_files(stage)[0], {**stage.facts, "policy": form})
    with pytest.raises(StoreError) as error:
        read_stage(path)
    assert str(path) in error.value.where and error.value.fix
    assert len(error.value.message) < 300


BOUNDS = [["-inf"], ["nan", "0.1"], ["5", "5"], [None, None], [10**400, 0], "ab", ["x", "y"]]


@pytest.mark.parametrize("low", BOUNDS, ids=lambda low: str(low)[:20])
def test_altered_bounds_are_refused(low, tmp_path) -> None:
    stage = stage_of("vector", "box", "16x8")
    form = changed(stage.facts["policy"], "head", "low", to=low)
    path = written(tmp_path, stage_files(stage)[0], {**stage.facts, "policy": form})
    with pytest.raises(StoreError, match=r"not (what|one that) nbyt writes"):
        read_stage(path)


def test_a_stage_without_a_policy_is_refused(tmp_path) -> None:
    stage = stage_of("vector", "discrete", "16x8")
    path = written(tmp_path, stage_files(stage)[0], {"env": "gym:Toy-v0"})
    with pytest.raises(StoreError, match=r"not (what|one that) nbyt writes"):
        read_stage(path)


VALUES = st.recursive(
    st.none()
    | st.booleans()
    | st.integers(-(2**40), 2**40)
    | st.floats(allow_nan=False, allow_infinity=False)
    | st.text(max_size=6)
    | st.sampled_from(["mlp", "cnn", "table", "index", "image", "vector", "Gaussian", "tanh"]),
    lambda inner: (
        st.lists(inner, max_size=4) | st.dictionaries(st.text(max_size=5), inner, max_size=3)
    ),
    max_leaves=6,
)
PLACES = [
    ("kind",),
    ("shape",),
    ("head",),
    ("head", "family"),
    ("head", "actions"),
    ("network",),
    ("network", "kind"),
    ("network", "widths"),
    ("network", "activation"),
    ("shared",),
    ("channels_first",),
]


@settings(max_examples=120, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(st.lists(st.tuples(st.sampled_from(PLACES), VALUES), max_size=3), VALUES, st.booleans())
@example([(("shape",), [6, 6, 3]), (("kind",), "image"), (("network", "kind"), "cnn")], 0, False)
@example([(("shape",), [1, 1, 3]), (("kind",), "image"), (("network", "kind"), "cnn")], 0, False)
@example([], {}, True)
def test_whatever_the_form_says_only_a_store_error_comes_out(
    tmp_path, changes, whole, replace
) -> None:
    """A mangled form either is the form of these very tensors, or is refused."""
    stage = stage_of("vector", "discrete", "16x8")
    form = copy.deepcopy(stage.facts["policy"])
    for places, value in changes:
        inner = form
        for place in places[:-1]:
            inner = inner[place] if isinstance(inner, dict) and place in inner else {}
        if isinstance(inner, dict):
            inner[places[-1]] = value
    facts = {"policy": whole if replace else form}
    path = written(tmp_path, stage_files(stage)[0], facts)
    try:
        found = read_stage(path)
    except StoreError:
        return
    rows = np.zeros((2, *found.policy.shape), np.float32)
    assert found.policy.parameters(found.params, jax.numpy.asarray(rows)).shape[0] == 2


def test_a_stage_of_another_env_is_refused_with_both_names() -> None:
    stage = stage_of("vector", "discrete", "16x8")
    assert require_env(stage, "gym:Toy-v0", "here") is None
    with pytest.raises(StoreError, match=r"'gym:Toy-v0', not on 'gymnax:Other'") as error:
        require_env(stage, "gymnax:Other", "here")
    assert error.value.where == "here"


WEIGHTS = {"nan": "are NaN or infinite", "-inf": "are NaN or infinite", "3e38": "is 3e+38"}


@pytest.mark.parametrize("value", WEIGHTS)
@pytest.mark.parametrize("observation", ["vector", "index"])
def test_weights_that_cannot_be_used_are_named(value, observation, tmp_path) -> None:
    stage = stage_of(observation, "discrete", "table" if observation == "index" else "16x8")
    tensors = {name: array.copy() for name, array in stage_files(stage)[0].items()}
    name = "values" if observation == "index" else "critic/head/w"
    tensors[name].flat[0] = float(value)
    path = written(tmp_path, tensors, stage.facts)
    with pytest.raises(StoreError, match=f"the weights '{name}'") as error:
        read_stage(path)
    assert WEIGHTS[value] in error.value.message and str(path) in error.value.where


def test_moments_of_large_observations_are_no_weights(tmp_path) -> None:
    stage = stage_of("vector", "discrete", "16x8", moments=True)
    large = np.full(3, 1e30, np.float32)
    tensors = {**stage_files(stage)[0], "observation/variance": large}
    moments = read_stage(written(tmp_path, tensors, stage.facts)).params.observation
    np.testing.assert_array_equal(moments.variance, large)
