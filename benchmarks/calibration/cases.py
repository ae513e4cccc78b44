"""The problems with a known answer that pools are drawn from, and how large a pool is."""

from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import cached_property

import jax.numpy as jnp

from nbyt.exact import Control, frozenlake, garnet, sticky, taxi
from nbyt.measure.request import Request, make_request
from nbyt.policy.actor_critic import Stage, table


@dataclass(frozen=True, eq=False)
class Case:
    """One kind of pool, drawn afresh with every seed.

    collected: whether nbyt's own collection draws the chains, or the quicker one in `sampler`.
    phase, ranking: whether these are measured too; they cost as much as all the rest.
    """

    name: str
    words: str
    make: Callable[[], Control]
    steps: tuple[int, ...] = (4, 32, 128)
    chains: int = 128
    chain_steps: int = 256
    normalise: bool = False
    start: str = "stationary"
    collected: bool = False
    phase: bool = False
    ranking: bool = False

    @cached_property
    def control(self) -> Control:
        """The env and the stage, made once: programs are compiled for these very objects."""
        return self.make()

    def request(self, seed: int) -> Request:
        """What `nbyt.probe` would be asked for."""
        control = self.control
        return make_request(
            control.stage.facts,
            batch=control.batch,
            steps=self.steps,
            gamma=control.gamma,
            lam=control.lam,
            chains=self.chains,
            chain_steps=self.chain_steps,
            advantages="normalised" if self.normalise else "raw",
            start=self.start,
            seed=seed,
        )


def _without_critic() -> Control:
    """FrozenLake's middle policy with a critic that says 0 everywhere."""
    control = frozenlake("mid")
    logits = control.stage.params.actor["logits"]
    made = table(logits, jnp.zeros(logits.shape[0]))
    return replace(control, stage=Stage(made.policy, made.params, control.stage.facts))


def _random_problem() -> Control:
    return garnet(6, 2, 0)


CASES = (
    Case(
        "frozenlake-uniform",
        "FrozenLake 8x8, uniform policy, exact critic",
        lambda: frozenlake("uniform"),
    ),
    Case(
        "frozenlake-mid",
        "FrozenLake 8x8, middle policy, exact critic",
        lambda: frozenlake("mid"),
        collected=True,
        phase=True,
    ),
    Case(
        "frozenlake-late",
        "FrozenLake 8x8, late policy, exact critic",
        lambda: frozenlake("late"),
    ),
    Case(
        "frozenlake-mid-zero",
        "FrozenLake 8x8, middle policy, critic 0: biased",
        _without_critic,
    ),
    Case(
        "garnet",
        "random MDP of 6 states and 2 actions, critic half the true values",
        _random_problem,
        collected=True,
        phase=True,
        ranking=True,
    ),
    Case(
        "garnet-normalised",
        "the same MDP, advantages normalised",
        _random_problem,
        normalise=True,
    ),
    Case(
        "garnet-reset",
        "the same MDP, all fragments begin at a reset",
        _random_problem,
        chain_steps=128,
        start="reset",
        collected=True,
    ),
    Case("sticky", "sticky context, flip .02: the covariance dominates", sticky),
    Case(
        "taxi",
        "Taxi: 500 states, 3,000 logits, exact critic",
        taxi,
        steps=(4, 32),
        chain_steps=64,
    ),
    Case(
        "frozenlake-uniform-long",
        "FrozenLake 8x8, uniform policy, exact critic, chains of 1,024 steps",
        lambda: frozenlake("uniform"),
        chain_steps=1024,
    ),
    Case(
        "frozenlake-mid-32",
        "FrozenLake 8x8, middle policy, exact critic, only 32 chains",
        lambda: frozenlake("mid"),
        chains=32,
    ),
    Case("garnet-32", "the same MDP, only 32 chains", _random_problem, chains=32),
)
BY_NAME = {case.name: case for case in CASES}

assert len(BY_NAME) == len(CASES), "two cases have one name"
