"""Functions of torch modules: each row's own gradient, and modules left as they were."""

import numpy as np
import pytest
import torch
from numpy.testing import assert_allclose
from tests.gradients.comparing import (
    CHAINS,
    SPEC,
    STEPS,
    close,
    products,
)
from tests.gradients.torch_twin import engine_of

from nbyt.errors import UsageError
from nbyt.gradients.engines.torch import TorchEngine
from nbyt.gradients.engines.torch_policy import TorchPolicy
from nbyt.gradients.spec import SlabPlan


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
