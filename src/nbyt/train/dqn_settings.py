"""Settings of DQN: everything, beside env, sizes and seed, that decides the numbers."""

from dataclasses import dataclass, fields
from functools import cached_property
from typing import Any, Literal

from nbyt.minibatch.replay import Sampling
from nbyt.numbers import Positive, Probability, Steps, check_fields
from nbyt.policy.networks import Network, parse_network


@dataclass(frozen=True)
class DQNSettings:
    """How DQN learns. Frozen and hashable; wrong values are refused when it is made."""

    gamma: Probability = 0.99
    """Discount of a step."""

    learning_rate: Positive = 5e-4
    """Step size of the optimiser."""

    anneal: bool = False
    """Let the learning rate fall to 0 in a straight line over the run."""

    optimizer: Literal["adam", "rmsprop", "sgd"] = "adam"
    """What turns gradients into steps."""

    double: bool = False
    """Choose the next action by the learning network, value it by the target network."""

    huber: Positive = 1.0
    """TD errors beyond this count linearly instead of squared, so that rare ones do not rule."""

    target_every: Steps = 500
    """Environment steps between two copies of the network to the target network."""

    target_mix: Probability = 1.0
    """How much of the network a copy brings; below 1 the rest of the target network stays."""

    sampling: Sampling = "uniform"
    """How mini-batches are drawn: uniform (with replacement), distinct (without), stratified over
    ages, sequential (neighbours in time), newest (no replay)."""

    epsilon_start: Probability = 1.0
    """Share of random actions at the beginning."""

    epsilon_end: Probability = 0.05
    """Share of random actions once exploration has come down."""

    exploration: Probability = 0.1
    """Part of the run over which the share of random actions comes down, in a straight line."""

    max_grad_norm: Positive = 10.0
    """Longest gradient; longer ones are scaled down to it."""

    network: str = "auto"
    """Layer widths such as 64x64, or cnn, table, auto."""

    activation: Literal["tanh", "relu", "swish"] = "relu"
    """Activation of an MLP's layers."""

    initial: Literal["orthogonal", "uniform"] = "orthogonal"
    """How weights begin: orthogonal, or uniform within 1 / √inputs as in torch and SB3."""

    on_nonfinite: Literal["stop", "drop"] = "stop"
    """What to do with a NaN or infinity from an env: stop, or leave those rows out."""

    def __post_init__(self) -> None:
        check_fields(self)
        parse_network(self.network, self.activation)

    @property
    def parsed_network(self) -> Network:
        """The network that `network` and `activation` describe."""
        return parse_network(self.network, self.activation)

    @cached_property
    def form(self) -> "DQNSettings":
        """What programs are compiled for: every setting that they take as a number is left out."""
        return DQNSettings(
            optimizer=self.optimizer,
            double=self.double,
            max_grad_norm=self.max_grad_norm,
            on_nonfinite=self.on_nonfinite,
        )

    def epsilon(self, part: float) -> float:
        """The share of random actions after that part of the run."""
        gone = min(part / self.exploration, 1.0) if self.exploration else 1.0
        return self.epsilon_start + gone * (self.epsilon_end - self.epsilon_start)

    def as_dict(self) -> dict[str, Any]:
        """Plain values, in the command line's words."""
        return {field.name: getattr(self, field.name) for field in fields(self)}
