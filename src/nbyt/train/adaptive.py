"""Adaptive PPO: its plan, the probe of a rollout, and the controller that moves T."""

from dataclasses import dataclass, field
from functools import partial
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Float

from nbyt.collect.rollout import Rollout, discounted_sums, fragment_sums, td_errors
from nbyt.errors import LayoutError
from nbyt.layout import Layout
from nbyt.policy.actor_critic import ActorCritic, Params
from nbyt.train.losses import Coefficients
from nbyt.train.plan import PPOSettings, RunPlan

History = Float[np.ndarray, "probes lengths"]


class Decision(NamedTuple):
    """The next place among the lengths, and the reason; empty where T stays."""

    place: int
    reason: str = ""


@dataclass(frozen=True)
class LayoutController:
    """When rollouts are probed, and when a probe's verdict changes T.

    every: updates from one probe to the next. fewest: probes before the first change, and between
    two. window: the last probes, which count; earlier ones are of another policy. sure: how many
    standard errors a neighbour has to be ahead.
    """

    every: int = 4
    fewest: int = 12
    window: int = 24
    sure: float = 2.0

    def probes(self, number: int) -> bool:
        """Return True if the rollout of that update is probed."""
        return number % self.every == 0

    def decide(
        self, history: History, place: int, since: int, lengths: tuple[int, ...]
    ) -> Decision:
        """Return the place after the last probe of the history.

        since: probes since the last change. Neighbours are compared probe by probe: what makes
        one rollout hard to learn from does so at every T.
        """
        seen = history[-self.window :]
        if len(seen) < self.fewest or since < self.fewest:
            return Decision(place)
        leads = {
            other: _lead(seen[:, other] - seen[:, place])
            for other in (place - 1, place + 1)
            if 0 <= other < len(lengths)
        }
        best = max(leads, key=lambda other: leads[other])
        if leads[best] < self.sure:
            return Decision(place)
        return Decision(best, _reason(lengths[place], lengths[best], leads[best], len(seen)))


def controller_for(updates: int) -> LayoutController:
    """Return the controller for a run of this length; its window is about a fifth of the run."""
    usual = LayoutController()
    window = max(usual.window, updates // usual.every // 5)
    return LayoutController(usual.every, window // 2, window, usual.sure)


def _lead(gaps: Float[np.ndarray, " probes"]) -> float:
    spread = float(gaps.std(ddof=1)) / len(gaps) ** 0.5
    return float(gaps.mean()) / spread if spread > 0 else 0.0


def _reason(old: int, new: int, lead: float, looks: int) -> str:
    why = "the critic is good enough to cut earlier" if new < old else "cut later, it is less wrong"
    return (
        f"advantages cut after {new} steps agreed better with the long-horizon gradient than after "
        f"{old}, by {lead:.1f} standard errors over {looks} looks: {why}"
    )


# The probe of a rollout: which T's advantages would have served the actor best.
#
# For each env, the gradient that all other envs give with advantages that wait for all rewards is a
# direction: what rollouts without an end would have taught. Every step of the env has a score along
# it; the mean product of these scores with the advantages of a T is that T's agreement, G* · E G(T)
# without bias, because envs are never paired with themselves.
#
# It stands for alignment: advantages are scaled to spread 1 at every T, as PPO does, and the noise
# of the actor's gradient is taken as the same for all T, so that the order of the agreements is
# the order of the alignments. A probe costs a tenth of an update and no env step: the rollout is
# trained on like any other.

_TINY = 1e-12


@partial(jax.jit, static_argnames=("policy", "lengths"))
def probe_rollout(
    policy: ActorCritic,
    params: Params,
    rollout: Rollout,
    coefficients: Coefficients,
    lengths: tuple[int, ...],
) -> Float[Array, " lengths"]:
    """Return the agreement of every T in `lengths`, in units of the squared score.

    The first half of the rollout's steps is compared; the second serves their references.
    """
    own = rollout.reward.shape[0] // 2
    weights = rollout.valid[:own].astype(jnp.float32)
    delta, ended = td_errors(rollout, coefficients.gamma)
    decay = jnp.where(ended, 0.0, coefficients.gamma)
    cut = [fragment_sums(delta, decay * coefficients.lam, steps)[:own] for steps in lengths]
    waited = discounted_sums(delta, decay)[:own]
    sets = jnp.stack([_scaled(one, weights) for one in (waited, *cut)])
    rows = _by_env(rollout.observation[:own]), _by_env(rollout.action[:own])
    weighed = jax.vmap(_by_env)(sets * weights)
    directions = jax.vmap(partial(_gradient, policy, params))(*rows, weighed[0])
    others = jax.tree.map(lambda each: each.sum(0) - each, directions)
    scores = jax.vmap(partial(_along, policy, params))(*rows, others)
    return jnp.sum(scores * weighed[1:], axis=(1, 2)) / weights.sum() ** 2


def _scaled(advantage: Float[Array, "T N"], weights: Float[Array, "T N"]) -> Float[Array, "T N"]:
    count = jnp.maximum(weights.sum(), 1.0)
    centred = advantage - jnp.sum(advantage * weights) / count
    return centred / (jnp.sqrt(jnp.sum(centred**2 * weights) / count) + _TINY)


def _by_env(rows: Float[Array, "T N ..."]) -> Float[Array, "N T ..."]:
    return rows.swapaxes(0, 1)


def _log_prob(
    policy: ActorCritic, params: Params, observation: Any, action: Any, trained: Any
) -> Float[Array, " rows"]:
    actor, torso = trained
    own = params._replace(actor=actor, torso=torso)
    return policy.head.log_prob(policy.parameters(own, observation), action)


def _gradient(
    policy: ActorCritic, params: Params, observation: Any, action: Any, weights: Any
) -> Any:
    chances = partial(_log_prob, policy, params, observation, action)
    _, back = jax.vjp(chances, (params.actor, params.torso))
    return back(weights)[0]


def _along(
    policy: ActorCritic, params: Params, observation: Any, action: Any, direction: Any
) -> Float[Array, " rows"]:
    chances = partial(_log_prob, policy, params, observation, action)
    return jax.jvp(chances, ((params.actor, params.torso),), (direction,))[1]


# Envs of a rollout that is probed; half of its steps are compared, and that half is the longest T.
PROBED_ENVS = 8
_HALF = 2
_LEAST = 64


@dataclass(frozen=True)
class AdaptivePlan(RunPlan[Layout, PPOSettings]):
    """A run of PPO; `layout` is its first one, `most` the envs it may use."""

    algo = "ppo"

    controller: LayoutController = field(default_factory=LayoutController)
    most: int = 2**62

    @property
    def probe_layout(self) -> Layout:
        return self.split(self.layout.batch // PROBED_ENVS)

    @property
    def lengths(self) -> tuple[int, ...]:
        """Return every T that the run may use, shortest first."""
        return lengths_of(self.layout.batch, self.most)

    def split(self, steps: int) -> Layout:
        own = self.layout
        return Layout(own.batch // steps, steps, own.minibatch, own.epochs)

    def identity(self) -> dict[str, Any]:
        controller = {
            name: getattr(self.controller, name) for name in LayoutController.__dataclass_fields__
        }
        return {**super().identity(), "adaptive": {**controller, "lengths": list(self.lengths)}}


def lengths_of(batch: int, most: int) -> tuple[int, ...]:
    """Return the powers of two that are a T of this batch with at most `most` envs."""
    longest = batch // PROBED_ENVS // _HALF
    powers = [2**k for k in range(max(longest, 1).bit_length())]
    found = tuple(t for t in powers if batch % t == 0 and batch // t <= most)
    if batch < _LEAST or batch % (PROBED_ENVS * _HALF) or len(found) < _HALF:
        raise LayoutError(
            f"a batch of {batch} has no layouts to move between",
            where="batch",
            fix="use a power of two of at least 64, such as 2048, and allow enough envs",
        )
    return found


def first_layout(batch: int, minibatch: int, epochs: int, most: int) -> Layout:
    """Return the first layout: the critic is untrained, so T is the longest."""
    steps = lengths_of(batch, most)[-1]
    return Layout(batch // steps, steps, minibatch, epochs)
