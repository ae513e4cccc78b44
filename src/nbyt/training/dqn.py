"""DQN: its plan, the learner, and gradient steps on mini-batches of transitions."""

from dataclasses import asdict, dataclass
from functools import cached_property, partial
from typing import Any, Literal, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
import optax
from jaxtyping import Array, Bool, Float, Int

from nbyt.errors import LayoutError
from nbyt.layout import batch_of
from nbyt.minibatch.replay import Sampling
from nbyt.numbers import SIZE, STEPS, Passes, Positive, Probability, Size, Steps, check_fields
from nbyt.policy.q_policy import QPolicy, uniform_weights, weights_of
from nbyt.rng import stream
from nbyt.training.losses import Rates, TDNumbers, Transitions, clipped, dqn_loss
from nbyt.training.plan import LearningSettings, RunPlan


@dataclass(frozen=True)
class DQNSettings(LearningSettings):
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

    @cached_property
    def form(self) -> "DQNSettings":
        """Return the settings that programs are compiled for, without those passed as numbers."""
        return DQNSettings(
            optimizer=self.optimizer,
            double=self.double,
            max_grad_norm=self.max_grad_norm,
            on_nonfinite=self.on_nonfinite,
        )

    def epsilon(self, part: float) -> float:
        """Return the share of random actions after this part of the run."""
        gone = min(part / self.exploration, 1.0) if self.exploration else 1.0
        return self.epsilon_start + gone * (self.epsilon_end - self.epsilon_start)


_USUAL_BUFFER = 100_000


@dataclass(frozen=True)
class ReplayLayout:
    """How one DQN update gets and uses its samples. A layout that exists is valid.

    envs (N) environments take steps (T) steps each, which go into a buffer of so many transitions;
    then come gradient_steps gradient steps, each on a mini-batch drawn from the buffer. Until
    warm_up steps were taken, actions are random and nothing is learnt.
    Without `buffer`, or with 0, it holds 100,000 transitions, or the nearest number that N x T
    divides.

    >>> ReplayLayout(envs=1, steps=4, minibatch=32).updates(100_000)
    25000
    """

    envs: Size = 1
    steps: Size = 4
    minibatch: Size = 32
    gradient_steps: Passes = 1
    buffer: Size = 0
    warm_up: Steps = 1000

    def __post_init__(self) -> None:
        batch_of(self.envs, self.steps)
        SIZE.check(self.minibatch, "minibatch")
        if self.buffer == 0 and not isinstance(self.buffer, bool):
            rows = max(_USUAL_BUFFER // self.fresh, -(-self.minibatch // self.fresh))
            object.__setattr__(self, "buffer", rows * self.fresh)
        check_fields(self)
        if self.buffer < self.minibatch:
            raise LayoutError(
                f"a buffer of {self.buffer} transitions is smaller than a mini-batch of "
                f"{self.minibatch}",
                where="buffer",
                fix=f"a buffer of at least {self.minibatch}, or a smaller mini-batch",
            )
        if self.buffer % self.fresh:
            below = self.buffer // self.fresh * self.fresh
            near = [str(size) for size in (below, below + self.fresh) if size]
            raise LayoutError(
                f"a buffer of {self.buffer} transitions does not hold a whole number of updates "
                f"of {self.fresh} (envs={self.envs} x steps={self.steps})",
                where="buffer",
                fix=f"nearest that do: {', '.join(near)}",
            )
        if self.warm_up < self.minibatch:
            raise LayoutError(
                f"after {self.warm_up} steps the buffer does not hold a mini-batch of "
                f"{self.minibatch}",
                where="warm_up",
                fix=f"a warm-up of at least {self.minibatch} steps, or a smaller mini-batch",
            )

    @property
    def fresh(self) -> int:
        """Return the new transitions of an update: N x T."""
        return self.envs * self.steps

    def learns(self, update: int) -> bool:
        """Return True if that update, counted from 1, makes gradient steps."""
        return update * self.fresh >= self.warm_up

    def updates(self, total: int) -> int:
        STEPS.check(total, "total")
        if total < max(self.fresh, self.warm_up):
            raise LayoutError(
                f"total={total} is smaller than the warm-up of {self.warm_up} steps",
                where="total",
                fix="a longer run, or a shorter warm-up",
            )
        return total // self.fresh

    def as_dict(self) -> dict[str, int]:
        return asdict(self)

    def __str__(self) -> str:
        envs = "1 env" if self.envs == 1 else f"{self.envs} envs"
        count = self.gradient_steps
        drawn = "1 mini-batch" if count == 1 else f"{count} mini-batches"
        return (
            f"{envs} x {self.steps} steps, then {drawn} of {self.minibatch} from the last "
            f"{self.buffer:,} transitions"
        )


class DQNPlan(RunPlan[ReplayLayout, DQNSettings]):
    """A run of DQN, with its schedules of exploration and learning rate."""

    algo = "dqn"

    def epsilon(self, before: int) -> float:
        """Return the share of random actions after `before` environment steps."""
        if before < self.layout.warm_up:
            return 1.0
        return self.settings.epsilon(before / self.total)

    def learning_rate(self, update: int) -> float:
        """Return the learning rate of that update, counted from 1."""
        left = 1 - (update - 1) / self.updates if self.settings.anneal else 1.0
        return self.settings.learning_rate * left


_RMSPROP_DECAY = 0.99


class QLearner(NamedTuple):
    """Everything that learning carries from one gradient step to the next."""

    weights: dict[str, Any]
    target: dict[str, Any]
    optimiser: Any


def new_learner(policy: QPolicy, settings: DQNSettings, key: jax.Array) -> QLearner:
    """Build a learner before its first gradient step; its target network is a copy."""
    own = stream(key, "policy")
    if settings.initial == "uniform":
        return with_weights(settings, uniform_weights(policy, own))
    return with_weights(settings, weights_of(policy.init(own)))


def with_weights(settings: DQNSettings, weights: dict[str, Any]) -> QLearner:
    """Build a learner with these initial weights."""
    # A copy, because both are given away to compiled programs, which take no array twice.
    return QLearner(
        weights, jax.tree.map(jnp.copy, weights), optimiser(settings, weights).init(weights)
    )


def rates_of(settings: DQNSettings) -> Rates:
    values = (settings.gamma, settings.huber, settings.target_mix, settings.learning_rate)
    return Rates(*(jnp.float32(value) for value in values))


def improve(
    policy: QPolicy,
    settings: DQNSettings,
    learner: QLearner,
    minibatches: Transitions,
    rates: Rates,
) -> tuple[QLearner, TDNumbers]:
    """Return the learner after a gradient step on each mini-batch [K, m, ...], and mean numbers."""
    step = partial(_gradient_step, policy, settings, learner.target, rates)
    carried = (learner.weights, learner.optimiser)
    (weights, state), seen = jax.lax.scan(step, carried, minibatches)
    means = jax.tree.map(lambda values: values.mean(0), seen)
    return QLearner(weights, learner.target, state), means


def copied(learner: QLearner, mix: Float[Array, ""]) -> QLearner:
    """Mix the network into the target network; 1 replaces it."""

    def mixed(new: jax.Array, old: jax.Array) -> jax.Array:
        return mix * new + (1 - mix) * old

    return learner._replace(target=jax.tree.map(mixed, learner.weights, learner.target))


def optimiser(settings: DQNSettings, weights: Any) -> optax.GradientTransformation:
    """Return the optimiser, whose steps are multiplied by the learning rate."""
    kinds = {
        "adam": optax.scale_by_adam,
        "rmsprop": partial(optax.scale_by_rms, _RMSPROP_DECAY),
        "sgd": optax.identity,
    }
    return clipped(kinds[settings.optimizer](), settings.max_grad_norm, weights)


def _gradient_step(
    policy: QPolicy,
    settings: DQNSettings,
    target: dict[str, Any],
    rates: Rates,
    carried: tuple[dict[str, Any], Any],
    rows: Transitions,
) -> tuple[tuple[dict[str, Any], Any], TDNumbers]:
    weights, state = carried
    loss = partial(dqn_loss, policy, target=target, rows=rows, rates=rates)
    gradient, seen = jax.grad(partial(loss, double=settings.double), has_aux=True)(weights)
    change, state = optimiser(settings, weights).update(gradient, state)
    weights = jax.tree.map(lambda w, c: w - rates.learning_rate * c, weights, change)
    return (weights, state), seen


class Schedule(NamedTuple):
    """The inputs of a block of B updates; only the first `count` are made."""

    first: Int[Any, ""]
    count: Int[Any, ""]
    epsilon: Float[Any, " B"]
    learning_rate: Float[Any, " B"]
    learns: Bool[Any, " B"]
    copies: Bool[Any, " B"]
    places: Int[Any, "B gradient_steps minibatch"]


class Tally(NamedTuple):
    """Sums over the updates of a block.

    fault: the first row of the block (update, then t * N + n) with a number that is not finite, or
    -1, and its action. dropped: rows left out for that.
    """

    episodes: jax.Array
    returns: jax.Array
    lengths: jax.Array
    learning: jax.Array
    seen: TDNumbers
    fault: jax.Array
    fault_action: jax.Array
    dropped: jax.Array


def row_of(observation: Any) -> Transitions:
    """Return the shapes of one transition, given those of an observation."""
    number: Any = partial(jax.ShapeDtypeStruct, ())
    flag = number(jnp.bool_)
    return Transitions(observation, number(jnp.int32), number(jnp.float32), flag, observation, flag)


def nonfinite(rows: Transitions) -> Any:
    """Mark the rows of experience with a reward or an observation that is not finite.

    Takes JAX's arrays and NumPy's alike, as `without` does.
    """
    library = _library(rows)
    fine = library.isfinite(rows.reward)
    for seen in (rows.observation, rows.next_observation):
        fine &= library.isfinite(seen).reshape(len(fine), -1).all(axis=1)
    return ~fine & rows.valid


def without(rows: Transitions, bad: Any) -> Transitions:
    """Zero the bad rows and mark them as not experience."""
    finite = partial(_library(rows).nan_to_num, nan=0.0, posinf=0.0, neginf=0.0)
    return jax.tree.map(finite, rows)._replace(valid=rows.valid & ~bad)


def _library(rows: Transitions) -> Any:
    return np if isinstance(rows.reward, np.ndarray) else jnp
