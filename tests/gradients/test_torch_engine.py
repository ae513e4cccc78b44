"""The torch engine against the JAX engine: the same weights, the same data, the same numbers."""

import jax
import numpy as np
import pytest
import torch
from numpy.testing import assert_allclose
from tests.gradients.comparing import (
    AIM,
    CHAINS,
    KINDS,
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

from nbyt.errors import UsageError
from nbyt.gradients.plan import Plan, plan_for
from nbyt.gradients.torch_engine import TorchEngine
from nbyt.gradients.torch_policy import TorchPolicy
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


@pytest.mark.parametrize("name", KINDS)
def test_both_engines_give_the_same_numbers(name: str) -> None:
    assert_same_numbers(name, engine_of(name)[1])


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
    plan = Plan(CHAINS, STEPS, (1,), 0)
    fast_ones, slow_ones = (products(one, case, AIM, plan) for one in (engine, slow))
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
    products(engine, case, AIM, Plan(CHAINS, STEPS, (), 0))
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
        _ = TorchEngine(wrong, engine.row).reached
    cut = TorchPolicy(twin, lambda o, a: twin.law(o).log_prob(a).detach(), engine.policy.value)
    with pytest.raises(UsageError, match="no parameter"):
        _ = TorchEngine(cut, engine.row).reached


def test_memory_is_planned_for_written_out_scores() -> None:
    case, other = engine_of("mlp")
    own, aim = stage_engine(case), AIM
    foot = other.footprint(aim)
    assert (
        foot.vectors
        == own.footprint(aim).vectors
        == sum(p.numel() for p in other.policy.module.parameters())
    )
    small = plan_for(foot, 64, aim, foot.row_bytes * 64)
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
    scores = engine.scores("actor", *engine.policy.rows(seen, action))
    for row in range(3):
        tied.zero_grad()
        tied(torch.tensor(seen[row : row + 1])).sum().backward()
        for name, p in tied.named_parameters():
            assert_allclose(scores[name][row], p.grad, rtol=1e-5)
