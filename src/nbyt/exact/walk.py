"""The walk of a rollout as one Markov chain: env, policy, time limit and resets together.

A state of the walk is a state of the env and, where there is a time limit, the steps made in the
episode. Same-step autoreset goes from an episode's last step straight to a start state. Next-step
autoreset puts a filler row between them, which is no experience: it counts as a row of the
rollout and gives nothing. nbyt's own pools take filler rows out, so that mode shows what a
library gets that keeps them.
"""

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from jaxtyping import Bool, Float, Int
from scipy import sparse

from nbyt.envs.tabular import TabularEnv
from nbyt.exact.limits import require_room


class Outcomes(NamedTuple):
    """Everything that can come of an action in a state; pair is state x actions + action.

    after is the env's state before any reset. Its value stands for the rest where `bootstraps`;
    the advantage is carried on where `carries`, which is within an episode.
    """

    pair: Int[np.ndarray, " O"]
    target: Int[np.ndarray, " O"]
    after: Int[np.ndarray, " O"]
    probability: Float[np.ndarray, " O"]
    reward: Float[np.ndarray, " O"]
    bootstraps: Bool[np.ndarray, " O"]
    carries: Bool[np.ndarray, " O"]


@dataclass(frozen=True, eq=False)
class Walk:
    """States X: what each shows, whether it is experience, and what its policy is."""

    observation: Int[np.ndarray, " X"]
    valid: Bool[np.ndarray, " X"]
    policy: Float[np.ndarray, "X A"]
    start: Float[np.ndarray, " X"]
    outcomes: Outcomes


def walk(env: TabularEnv, policy: Float[np.ndarray, "S A"], *, filler: bool) -> Walk:
    """The walk of `policy` in `env`; with `filler`, a filler row follows each episode."""
    states, actions, _ = env.outcomes.state.shape
    require_room(states * actions * (env.time_limit or 1), "the states of env and time limit")
    layers = _reached(env, policy)
    made, state = np.nonzero(layers)
    valid = np.ones(len(state), bool)
    start = normalised(env.start)[state] * (made == 0)
    outcomes = _env_outcomes(env, policy, layers)
    if not filler:
        return Walk(state, valid, policy[state], start, _restarted(outcomes, start))
    # The filler is one more state: all episodes end in it, and from it they start.
    start, filler_law = np.append(start, 0.0), np.append(np.zeros(len(state)), 1.0)
    parts = (
        _restarted(outcomes, filler_law),
        _restarted(_filler_outcomes(len(state), actions), start),
    )
    return Walk(
        np.append(state, 0),
        np.append(valid, False),
        np.vstack([policy[state], np.full(actions, 1 / actions)]),
        start,
        Outcomes(*(np.concatenate(both) for both in zip(*parts, strict=True))),
    )


def normalised(table: Float[np.ndarray, "..."]) -> Float[np.ndarray, "..."]:
    """Probabilities that sum to exactly 1; an env's tables may miss it by a millionth."""
    return table / table.sum(axis=-1, keepdims=True)


def choices(policy: Float[np.ndarray, "X A"]) -> sparse.csr_array:
    """[X, X A] a matrix that averages over each state's actions."""
    states, actions = policy.shape
    column = np.arange(states * actions)
    first = np.arange(states + 1) * actions
    return sparse.csr_array((policy.ravel(), column, first), shape=(states, states * actions))


def goes_on(env: TabularEnv, policy: Float[np.ndarray, "S A"]) -> Bool[np.ndarray, "S S"]:
    """Whether a step within an episode can lead from one state to another."""
    found = env.outcomes
    going = (found.probability > 0) & ~found.terminated & (policy > 0)[:, :, None]
    onward = np.zeros((len(policy), len(policy)), bool)
    onward[np.nonzero(going)[0], found.state[going]] = True
    return onward


def closure(
    first: Bool[np.ndarray, " S"], onward: Bool[np.ndarray, "S S"]
) -> Bool[np.ndarray, " S"]:
    """The states that can be reached from `first`, themselves included."""
    reached, grown = first, first | onward[first].any(axis=0)
    while (grown != reached).any():
        reached, grown = grown, grown | onward[grown].any(axis=0)
    return reached


def _reached(env: TabularEnv, policy: Float[np.ndarray, "S A"]) -> Bool[np.ndarray, "K S"]:
    """Which states an episode can be in after k steps; without a limit, after any number."""
    onward = goes_on(env, policy)
    if env.time_limit is None:
        return closure(env.start > 0, onward)[None]
    layers = np.zeros((env.time_limit, len(env.start)), bool)
    layers[0] = env.start > 0
    for k in range(1, env.time_limit):
        layers[k] = onward[layers[k - 1]].any(axis=0)
    return layers


def _env_outcomes(
    env: TabularEnv, policy: Float[np.ndarray, "S A"], layers: Bool[np.ndarray, "K S"]
) -> Outcomes:
    """The outcomes in all reached states, without a target where an episode ends."""
    number = np.full(layers.shape, -1)
    number[layers] = np.arange(layers.sum())
    # Actions that are never taken may lead to states that are never reached: they are left out.
    found = env.outcomes
    possible = np.nonzero((found.probability > 0) & (policy > 0)[:, :, None])
    # By next state, whatever the order in which a step draws them.
    order = np.lexsort((found.state[possible], *possible[1::-1]))
    s, a, k = (part[order] for part in possible)
    layer, chosen = np.nonzero(layers[:, s])
    place = s, a, _ = s[chosen], a[chosen], k[chosen]
    after, terminated = found.state[place], found.terminated[place]
    last = (layer == len(layers) - 1) & (env.time_limit is not None)
    return Outcomes(
        number[layer, s] * policy.shape[1] + a,
        number[np.minimum(layer + 1, len(layers) - 1), after],
        after,
        normalised(found.probability)[place],
        found.reward[place],
        ~terminated,
        ~terminated & ~last,
    )


def _filler_outcomes(state: int, actions: int) -> Outcomes:
    zeros = np.zeros(actions, int)
    never = zeros > 0
    pair = state * actions + np.arange(actions)
    return Outcomes(pair, zeros, zeros, np.ones(actions), np.zeros(actions), never, never)


def _restarted(outcomes: Outcomes, law: Float[np.ndarray, " X"]) -> Outcomes:
    """The outcomes with every state of `law` as a target of those that end an episode."""
    ends = np.flatnonzero(law)
    copies = np.where(outcomes.carries, 1, len(ends))
    require_room(int(copies.sum()), "the outcomes of all actions")
    row = np.repeat(np.arange(len(copies)), copies)
    turn = np.arange(len(row)) - np.repeat(np.cumsum(copies) - copies, copies)
    made = Outcomes(*(part[row] for part in outcomes))
    return made._replace(
        target=np.where(made.carries, made.target, ends[turn]),
        probability=made.probability * np.where(made.carries, 1.0, law[ends][turn]),
    )
