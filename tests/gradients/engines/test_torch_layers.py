"""Layers of torch modules give the gradients that autograd gives, or are not used."""

import numpy as np
import torch
from numpy.testing import assert_allclose

from nbyt.collect.pool import Pool
from nbyt.gradients.engines import torch as torch_engine
from nbyt.gradients.engines.torch import TorchEngine
from nbyt.gradients.engines.torch_layers import can_be_layered
from nbyt.gradients.engines.torch_policy import TorchPolicy
from nbyt.gradients.reduce import reduce_pool
from nbyt.gradients.spec import GradientSpec, SlabPlan


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
