"""The torch engine against the JAX engine: the same weights, the same data, the same numbers."""

import jax
import numpy as np
import pytest
import torch
from numpy.testing import assert_allclose
from tests.gradients.comparing import (
    CHAINS,
    KINDS,
    SPEC,
    STEPS,
    assert_same_gradients_and_directions,
    assert_same_numbers,
    assert_slabs_of_any_size_give_the_same,
    case_of,
    close,
    products,
    stage_engine,
)
from tests.gradients.conftest import Case

from nbyt.collect.pool import Pool
from nbyt.errors import UsageError
from nbyt.gradients.engines import torch as torch_engine
from nbyt.gradients.engines.torch import TorchEngine
from nbyt.gradients.engines.torch_layers import can_be_layered
from nbyt.gradients.engines.torch_policy import TorchPolicy
from nbyt.gradients.reduce import reduce_pool
from nbyt.gradients.spec import GradientSpec, SlabPlan, plan_for
from nbyt.policy.networks import image_convolutions


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


def engine_of(name: str) -> tuple[Case, TorchEngine]:
    case = case_of(name)
    return case, TorchEngine(Twin(case).policy(), case.rows(1, 3))


@pytest.mark.parametrize(
    ("name", "large"),
    [*((kind, False) for kind in KINDS), *((kind, True) for kind in ("gaussian", "cnn-shared"))],
)
def test_both_engines_give_the_same_numbers(
    name: str, large: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Scores written down, and the layers that a large network is measured by."""
    monkeypatch.setattr(torch_engine, "LARGE", 0 if large else 10**9)
    engine = engine_of(name)[1]
    assert engine.by_layers == large
    assert_same_numbers(name, engine)


def test_slabs_of_any_size_give_the_same() -> None:
    assert_slabs_of_any_size_give_the_same(*engine_of("gaussian"))


def test_gradients_and_directions_are_the_same() -> None:
    assert_same_gradients_and_directions(*engine_of("cnn-shared"))


def test_code_that_cannot_be_batched_is_taken_row_by_row() -> None:
    case, engine = engine_of("mlp")
    twin = engine.policy.module

    def log_prob(observation: torch.Tensor, action: torch.Tensor) -> torch.Tensor:
        found = twin.law(observation).log_prob(action)
        return found if found.sum() < 0 else found + 1  # a decision on a value

    slow = TorchEngine(
        TorchPolicy(twin, log_prob, engine.policy.value, engine.policy.entropy), engine.row
    )
    plan = SlabPlan(CHAINS, STEPS, (1,), 0)
    fast_ones, slow_ones = (products(one, case, SPEC, plan) for one in (engine, slow))
    assert slow.functions.slow == ["actor"] and not engine.functions.slow
    for key, value in fast_ones.items():
        close(slow_ones[key], value)


@pytest.mark.parametrize("name", ["mlp", "cnn-shared"])
def test_measuring_leaves_gradients_weights_and_checks_alone(name: str) -> None:
    case, engine = engine_of(name)
    twin = engine.policy.module
    parameters = [id(p) for p in twin.parameters()]
    seen, action = case.rows(8, 2)
    engine.policy.log_prob(*engine.policy.rows(seen, action)).sum().backward()
    before = [p.grad.clone() for p in twin.actor.parameters()]
    weights = [p.detach().clone() for p in twin.parameters()]
    products(engine, case, SPEC, SlabPlan(CHAINS, STEPS, (), 0))
    engine.along(seen, action, engine.gradient(seen, action, {"actor": np.ones(8)}))
    assert [id(p) for p in twin.parameters()] == parameters
    assert all(torch.equal(a, p.grad) for a, p in zip(before, twin.actor.parameters(), strict=True))
    assert all(torch.equal(a, p) for a, p in zip(weights, twin.parameters(), strict=True))
    with pytest.raises(ValueError, match="logits"):
        torch.distributions.Categorical(logits=torch.tensor([float("nan"), 0.0]))


def test_a_function_that_does_not_give_one_number_a_row_is_refused() -> None:
    _, engine = engine_of("mlp")
    twin = engine.policy.module
    wrong = TorchPolicy(twin, lambda o, a: twin.law(o).logits, engine.policy.value)
    with pytest.raises(UsageError, match="numbers for one step"):
        _ = TorchEngine(wrong, engine.row).shared
    cut = TorchPolicy(twin, lambda o, a: twin.law(o).log_prob(a).detach(), engine.policy.value)
    with pytest.raises(UsageError, match="no parameter"):
        _ = TorchEngine(cut, engine.row).shared


def test_memory_is_planned_for_written_out_scores() -> None:
    case, other = engine_of("mlp")
    own, spec = stage_engine(case), SPEC
    foot = other.footprint(spec)
    assert (
        foot.vectors
        == own.footprint(spec).vectors
        == sum(p.numel() for p in other.policy.module.parameters())
    )
    small = plan_for(foot, 64, spec, foot.row_bytes * 64)
    assert small.steps < STEPS
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
    scores = engine.functions.scores("actor", *engine.policy.rows(seen, action))
    for row in range(3):
        tied.zero_grad()
        tied(torch.tensor(seen[row : row + 1])).sum().backward()
        for name, p in tied.named_parameters():
            assert_allclose(scores[name][row], p.grad, rtol=1e-5)


class Twice(torch.nn.Module):
    """A layer that is used twice, one that is overwritten, and one that is used by its weight."""

    def __init__(self, *, beside: bool) -> None:
        super().__init__()
        torch.manual_seed(0)
        self.same, self.other = torch.nn.Linear(4, 4), torch.nn.Linear(4, 1)
        self.gain = torch.nn.Parameter(torch.ones(4))
        self.beside = beside

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        x = torch.nn.functional.relu(self.same(self.same(x)) + 1, inplace=True) * self.gain
        if self.beside:
            x = x + torch.nn.functional.linear(x, self.same.weight)
        return self.other(x)[:, 0]


def test_layers_serve_unless_a_weight_is_used_beside_its_module(monkeypatch) -> None:
    seen = np.random.default_rng(0).normal(size=(6, 4)).astype(np.float32)
    rows = (seen, np.zeros(6, np.float32))
    for beside in (False, True):
        net = Twice(beside=beside)
        engine = TorchEngine(
            TorchPolicy(net, lambda o, a, net=net: net(o), net), (seen[:1], rows[1][:1])
        )
        assert can_be_layered(engine.functions) == (not beside)
        found = {}
        for large in (0, 10**9):
            monkeypatch.setattr(torch_engine, "LARGE", large)
            one = TorchEngine(engine.policy, engine.row)
            assert one.by_layers == (large == 0 and not beside)
            spec = GradientSpec((3,), (0.0,), 3, 0.0, False, joined=True)
            shape = (3, 2)
            pool = Pool(
                seen.reshape(3, 2, 4),
                rows[1].reshape(shape),
                np.arange(6, dtype=np.float32).reshape(shape),
                *[np.zeros(shape, np.float32)] * 3,
                *[np.zeros(shape, bool)] * 2,
            )
            made = reduce_pool(one, pool, spec, SlabPlan(2, 3, (1,), 0)).objectives["actor"]
            found[large] = made.square, made.step_square, made.step_pairs, made.lags
        for ours, theirs in zip(*found.values(), strict=True):
            assert_allclose(ours, theirs, rtol=1e-4)
