"""Torch modules with the weights of nbyt's own policies."""

import numpy as np
import torch
from tests.gradients.comparing import case_of
from tests.gradients.conftest import Case

from nbyt.gradients.engines.torch import TorchEngine
from nbyt.gradients.engines.torch_policy import TorchPolicy
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
