"""The torch engine against the JAX engine: the same weights, the same data, the same numbers."""

import jax
import numpy as np
import pytest
import torch
from numpy.testing import assert_allclose
from tests.gradients.conftest import CASES, Case, make_case, noise_pool

from nbyt.errors import UsageError
from nbyt.gradients.assembly import products_of
from nbyt.gradients.engine import Engine, harvest
from nbyt.gradients.phase import phase_products
from nbyt.gradients.plan import Plan, plan_for
from nbyt.gradients.stage_engine import StageEngine
from nbyt.gradients.torch_engine import TorchEngine, TorchPolicy
from nbyt.gradients.weights import Aim
from nbyt.policy.networks import image_convolutions

_CHAINS, _STEPS = 5, 16
_AIM = Aim((1, 2, 8, 16), (0.9, 0.5), _STEPS, 0.95, True, value_coefficient=0.7)
_KINDS = ["mlp", "mlp-shared", "gaussian", "cnn", "cnn-shared"]


class Torso(torch.nn.Module):
    """The same layers as nbyt's, of torch's own making."""

    def __init__(self, case: Case, layers: list) -> None:
        super().__init__()
        self.convolutions = torch.nn.ModuleList()
        self.dense = torch.nn.ModuleList()
        self._activation = torch.relu if case.policy.network.kind == "cnn" else torch.tanh
        images = image_convolutions(case.policy.encoded_shape) if self._is_image(case) else ()
        for place, layer in enumerate(layers):
            weight, bias = np.asarray(layer["w"]), np.asarray(layer["b"])
            if place < len(images):
                _, kernel, stride = images[place]
                made = torch.nn.Conv2d(weight.shape[2], weight.shape[3], kernel, stride)
                weight = weight.transpose(3, 2, 0, 1)
                self.convolutions.append(made)
            else:
                made = torch.nn.Linear(*weight.shape)
                weight = weight.T
                self.dense.append(made)
            fill(made, weight, bias)

    def _is_image(self, case: Case) -> bool:
        return case.policy.network.kind == "cnn"

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        if len(self.convolutions):
            x = x.permute(0, 3, 1, 2)
            for one in self.convolutions:
                x = self._activation(one(x))
            x = x.permute(0, 2, 3, 1)
        x = x.flatten(1)
        for one in self.dense:
            x = self._activation(one(x))
        return x


class Twin(torch.nn.Module):
    """A torch actor-critic with the weights of one of nbyt's."""

    def __init__(self, case: Case) -> None:
        super().__init__()
        params = case.params
        self.actor = Torso(case, params.torso or params.actor["layers"])
        self.critic = self.actor if params.torso else Torso(case, params.critic["layers"])
        self.acts, self.judges = head(params.actor["head"]), head(params.critic["head"])
        self.gaussian = "log_std" in params.actor
        if self.gaussian:
            self.log_std = torch.nn.Parameter(torch.tensor(np.asarray(params.actor["log_std"])))

    def law(self, observation: torch.Tensor) -> torch.distributions.Distribution:
        out = self.acts(self.actor(observation))
        if self.gaussian:
            normal = torch.distributions.Normal(out, self.log_std.exp())
            return torch.distributions.Independent(normal, 1)
        return torch.distributions.Categorical(logits=out)

    def policy(self) -> TorchPolicy:
        return TorchPolicy(
            self,
            lambda o, a: self.law(o).log_prob(a),
            lambda o: self.judges(self.critic(o))[:, 0],
            lambda o: self.law(o).entropy(),
        )


def fill(module: torch.nn.Module, weight: np.ndarray, bias: np.ndarray) -> None:
    with torch.no_grad():
        module.weight.copy_(torch.tensor(np.array(weight)))
        module.bias.copy_(torch.tensor(np.array(bias)))


def head(layer: dict) -> torch.nn.Linear:
    weight = np.asarray(layer["w"])
    made = torch.nn.Linear(weight.shape[1], weight.shape[0])
    fill(made, weight, np.asarray(layer["b"]))
    return made


def engines(name: str) -> tuple[Case, StageEngine, TorchEngine]:
    case = make_case(*CASES[name])
    row = case.rows(1, 3)
    return case, StageEngine(case.policy, case.params), TorchEngine(Twin(case).policy(), row)


def close(one: np.ndarray, other: np.ndarray, size: float = 0.0) -> None:
    """Equal to 1e-4 of the array's own size, or of what it is the small difference of."""
    size = max(size, np.abs(other).max())
    assert_allclose(one, other, rtol=1e-4, atol=1e-4 * size)


def products(engine: Engine, case: Case, aim: Aim, plan: Plan) -> dict:
    pool = noise_pool(case, _CHAINS, _STEPS + 6)
    found = harvest(engine, pool, aim, plan)
    names = ("square", "step_square", "step_pairs", "means", "cross", "reference")
    made = {
        f"{objective} {field} {k} {m}": getattr(products_of(found, aim, objective, k, m), field)
        for objective in ("actor", "critic", "total")
        for k in range(len(aim.steps))
        for m in range(len(aim.lambdas))
        for field in names
    }
    lags = {f"{name} lags": own.lags for name, own in found.objectives.items()}
    phases = phase_products(engine, pool, found, aim, plan)
    crowds = {f"{n} {p} crowd": one.pairs for n, own in phases.items() for p, one in own.items()}
    return made | lags | crowds


@pytest.mark.parametrize("name", _KINDS)
def test_both_engines_give_the_same_numbers(name: str) -> None:
    case, own, other = engines(name)
    joined = other.shared
    assert joined == own.shared
    aim = Aim(*[getattr(_AIM, f) for f in ("steps", "lambdas", "measured", "gamma", "normalise")])
    if joined:
        aim = Aim(aim.steps, aim.lambdas, aim.measured, aim.gamma, True, 0.7, 0.3, joined=True)
    plan = Plan(_CHAINS, _STEPS, (1, 3), 0)
    theirs, ours = products(other, case, aim, plan), products(own, case, aim, plan)
    assert theirs.keys() == ours.keys() and len(ours) > 100
    for key, value in ours.items():
        objective = key.partition(" ")[0]
        apart = "crowd" in key or "step_pairs" in key
        close(theirs[key], value, ours[f"{objective} square 0 0"].max() if apart else 0.0)


def test_slabs_of_any_size_give_the_same(monkeypatch: pytest.MonkeyPatch) -> None:
    case, _, engine = engines("gaussian")
    whole = products(engine, case, _AIM, Plan(_CHAINS, _STEPS, (), 0))
    pool = noise_pool(case, _CHAINS, _STEPS + 6)
    cut = harvest(engine, pool, _AIM, Plan(3, 4, (), 0))
    for k in range(4):
        found = products_of(cut, _AIM, "actor", k, 1)
        close(found.square, whole[f"actor square {k} 1"])
        close(found.means, whole[f"actor means {k} 1"])


def test_gradients_and_directions_are_the_same() -> None:
    case, own, other = engines("cnn-shared")
    seen, action = case.rows(12, 5)
    generator = np.random.default_rng(0)
    weights = {p: generator.normal(size=12) for p in ("actor", "critic", "entropy")}
    first, second = own.gradient(seen, action, weights), other.gradient(seen, action, weights)
    assert_allclose(np.linalg.norm(first), np.linalg.norm(second), rtol=1e-4)
    # Along its own gradient the weighted scores add to its length, whatever the parameters' order.
    only = {"actor": weights["actor"]}
    for engine in (own, other):
        gradient = engine.gradient(seen, action, only)
        along = engine.along(seen, action, gradient / np.linalg.norm(gradient))
        assert_allclose(along @ weights["actor"], np.linalg.norm(gradient), rtol=1e-4)
    one, two = (e.along(seen, action, e.gradient(seen, action, only)) for e in (own, other))
    close(two, one)


def test_code_that_cannot_be_batched_is_taken_row_by_row() -> None:
    case, _, engine = engines("mlp")
    twin = engine.policy.module

    def log_prob(observation: torch.Tensor, action: torch.Tensor) -> torch.Tensor:
        found = twin.law(observation).log_prob(action)
        return found if found.sum() < 0 else found + 1  # a decision on a value

    slow = TorchEngine(
        TorchPolicy(twin, log_prob, engine.policy.value, engine.policy.entropy), engine.row
    )
    plan = Plan(_CHAINS, _STEPS, (1,), 0)
    fast_ones, slow_ones = (products(one, case, _AIM, plan) for one in (engine, slow))
    for key, value in fast_ones.items():
        close(slow_ones[key], value)


@pytest.mark.parametrize("name", ["mlp", "cnn-shared"])
def test_measuring_leaves_gradients_weights_and_checks_alone(name: str) -> None:
    case, _, engine = engines(name)
    twin = engine.policy.module
    parameters = [id(p) for p in twin.parameters()]
    seen, action = case.rows(8, 2)
    engine.policy.log_prob(*engine.policy.rows(seen, action)).sum().backward()
    before = [p.grad.clone() for p in twin.actor.parameters()]
    weights = [p.detach().clone() for p in twin.parameters()]
    products(engine, case, _AIM, Plan(_CHAINS, _STEPS, (), 0))
    engine.along(seen, action, engine.gradient(seen, action, {"actor": np.ones(8)}))
    assert [id(p) for p in twin.parameters()] == parameters
    assert all(torch.equal(a, p.grad) for a, p in zip(before, twin.actor.parameters(), strict=True))
    assert all(torch.equal(a, p) for a, p in zip(weights, twin.parameters(), strict=True))
    with pytest.raises(ValueError, match="logits"):
        torch.distributions.Categorical(logits=torch.tensor([float("nan"), 0.0]))


def test_a_function_that_does_not_give_one_number_a_row_is_refused() -> None:
    _, _, engine = engines("mlp")
    twin = engine.policy.module
    wrong = TorchPolicy(twin, lambda o, a: twin.law(o).logits, engine.policy.value)
    with pytest.raises(UsageError, match="numbers for one step"):
        _ = TorchEngine(wrong, engine.row).reached
    cut = TorchPolicy(twin, lambda o, a: twin.law(o).log_prob(a).detach(), engine.policy.value)
    with pytest.raises(UsageError, match="no parameter"):
        _ = TorchEngine(cut, engine.row).reached


def test_memory_is_planned_for_written_out_scores() -> None:
    _, own, other = engines("mlp")
    aim = _AIM
    foot = other.footprint(aim)
    assert (
        foot.vectors
        == own.footprint(aim).vectors
        == sum(p.numel() for p in other.policy.module.parameters())
    )
    small = plan_for(foot, 64, aim, foot.row_bytes * 64)
    assert small.steps < _STEPS
    assert jax.tree.leaves(own.params)


def test_a_parameter_in_two_places_is_counted_in_both() -> None:
    class Tied(torch.nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.first, self.second = torch.nn.Linear(3, 3), torch.nn.Linear(3, 3)
            self.second.weight = self.first.weight

        def forward(self, x: torch.Tensor) -> torch.Tensor:
            return self.second(torch.tanh(self.first(x)))[:, 0]

    tied = Tied()
    seen, action = np.eye(3, dtype=np.float32), np.zeros(3, np.float32)
    engine = TorchEngine(TorchPolicy(tied, lambda o, a: tied(o), tied), (seen[:1], action[:1]))
    scores = engine.scores("actor", *engine.policy.rows(seen, action))
    for row in range(3):
        tied.zero_grad()
        tied(torch.tensor(seen[row : row + 1])).sum().backward()
        for name, p in tied.named_parameters():
            assert_allclose(scores[name][row], p.grad, rtol=1e-5)
