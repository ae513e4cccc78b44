"""A question to the oracle: env, stage and options, checked and put together once."""

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from functools import cached_property
from itertools import islice
from typing import Generic, Literal, TypedDict, TypeVar

import numpy as np
from jaxtyping import Float

from nbyt.envs.tabular import TabularEnv
from nbyt.errors import UsageError
from nbyt.exact.gradient import (
    Advantage,
    Gradient,
    Weights,
    advantages,
    endless_advantage,
    gradient,
    require_gradient_room,
)
from nbyt.exact.limits import require_choice, require_room, require_stage
from nbyt.exact.scores import Features, Scores, scores
from nbyt.exact.values import Values, policy_values, stationary
from nbyt.exact.walk import Chain, Law, Pairs, chain, walk
from nbyt.numbers import PROBABILITY, STEPS, require
from nbyt.policy.actor_critic import Stage

Result = TypeVar("Result")


class Options(TypedDict, total=False):
    """What may be changed in every question.

    start: the law of the first state, "stationary" (the law of the walk with its resets) or
    "reset" (all envs begin an episode). centre: the actor's advantages have mean 0 and variance 1
    over the rollout's steps. features: scores that replace the stage's. value_coefficient,
    entropy_coefficient: the total's. autoreset: whether a filler row follows each episode.
    """

    start: Literal["stationary", "reset"]
    centre: bool
    features: Features | None
    value_coefficient: float
    entropy_coefficient: float
    autoreset: Literal["same-step", "next-step"]


@dataclass(frozen=True, eq=False)
class Problem:
    """Everything an exact calculation is about; `steps` is None for an endless rollout."""

    chain: Chain
    scores: Scores
    true: Values
    start: Law
    stationary: Law
    steps: int | None
    centre: bool
    value_coefficient: float
    entropy_coefficient: float

    def gradient(self, name: str) -> Gradient:
        """Return the contributions of "actor", "critic" or "total"."""
        return gradient(name, self.scores, self.chain, self.weights)

    @cached_property
    def weights(self) -> Weights:
        """The weights of the loss; with `centre`, those of the rollout's own advantages."""
        mean, spread = self._advantage_moments() if self.centre else (0.0, 1.0)
        return Weights(self.value_coefficient, self.entropy_coefficient, mean, spread)

    @cached_property
    def target(self) -> Pairs:
        """Q(s, a) - V(s), the advantage that a rollout without error or end would find.

        Against a score it is the policy's advantage; on average over actions it is what the
        critic lacks. So one target makes the reference of all three gradients.
        """
        lacking = self.true.action - self.scores.values[:, None]
        return lacking[self.chain.observation] * self.chain.valid[:, None]

    @cached_property
    def laws(self) -> Float[np.ndarray, "T X"]:
        """The law of the state at each step of the rollout."""
        assert self.steps is not None, "an endless rollout has one law, the stationary one"
        return self.chain.laws(self.start, self.steps)

    def _advantage_moments(self) -> tuple[float, float]:
        """Return mean and standard deviation of the advantage over the rollout's experience."""
        made: Iterable[Advantage]
        if self.steps is None:
            laws, made = self.stationary[None], [endless_advantage(self.chain)]
        else:
            laws, made = self.laws[::-1], islice(advantages(self.chain), self.steps)
        mean = square = 0.0
        valid = float(laws[:, self.chain.valid].sum())
        for law, advantage in zip(laws, made, strict=True):
            weight = law[:, None] * self.chain.policy / valid
            mean += float((weight * advantage.mean).sum())
            square += float((weight * advantage.square).sum())
        variance = square - mean**2
        if variance <= 1e-14 * square:
            raise UsageError(
                f"all advantages are {mean:g}: nothing can be divided by their spread",
                where="centre",
                fix="use centre=False",
            )
        return mean, float(np.sqrt(variance))


class PerGradient(Generic[Result]):
    """One result each for actor, critic and total, calculated when first asked for."""

    def __init__(self, problem: Problem, measure: Callable[[Problem, str], Result]) -> None:
        self._problem, self._measure = problem, measure

    @cached_property
    def actor(self) -> Result:
        """Of the actor's gradient, the mean of score times advantage."""
        return self._measure(self._problem, "actor")

    @cached_property
    def critic(self) -> Result:
        """Of the critic's gradient, the mean of advantage times the slope of the value."""
        return self._measure(self._problem, "critic")

    @cached_property
    def total(self) -> Result:
        """Of the whole loss's gradient; for separate networks actor and critic side by side."""
        return self._measure(self._problem, "total")


def pose(
    env: TabularEnv,
    policy: Stage,
    *,
    steps: int | None,
    gamma: float,
    lam: float,
    start: str = "stationary",
    centre: bool = False,
    features: Features | None = None,
    value_coefficient: float = 0.5,
    entropy_coefficient: float = 0.0,
    autoreset: str = "same-step",
) -> Problem:
    """Check the arguments and build the problem that they mean."""
    require_stage(policy, env)
    (steps,) = require(STEPS, steps=steps)
    require(PROBABILITY, gamma=gamma, lam=lam)
    require_choice("start", start, ("stationary", "reset"))
    require_choice("autoreset", autoreset, ("same-step", "next-step"))
    found = scores(policy, features)
    true = policy_values(env, found.policy, gamma)
    steps_of = walk(env, found.policy, filler=autoreset == "next-step")
    made = chain(steps_of, found.values, gamma=gamma, lam=lam)
    # Before anything is solved, so that a problem that is too large is refused at once.
    require_gradient_room(found.actor, made)
    require_room(len(made.start) * (steps or 1), "the law of the state at every step")
    law = stationary(made.moves)
    return Problem(
        made,
        found,
        true,
        law if start == "stationary" else made.start,
        law,
        steps,
        centre,
        value_coefficient,
        entropy_coefficient,
    )
