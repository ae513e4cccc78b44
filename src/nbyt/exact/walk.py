"""The walk of a rollout as one Markov chain: env, policy, time limit and resets together.

A state of the walk is a state of the env and, where there is a time limit, the steps made in the
episode. Same-step autoreset goes from an episode's last step straight to a start state. Next-step
autoreset puts a filler row between them, which is no experience: it counts as a row of the
rollout and gives nothing. nbyt's own pools take filler rows out, so that mode shows what a
library gets that keeps them.
"""

from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple

import numpy as np
from jaxtyping import Bool, Float, Int
from scipy import sparse

from nbyt.envs.tabular import TabularEnv
from nbyt.exact.limits import require_room

# Numbers of states X (of the walk) or S (of the env), actions A, links E and parameters p.
Law = Float[np.ndarray, " X"]
Pairs = Float[np.ndarray, "X A"]
Vectors = Float[np.ndarray, "X p"]
Links = Float[np.ndarray, " E"]
Table = Float[np.ndarray, "S A"]


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
    policy: Pairs
    start: Law
    outcomes: Outcomes


def walk(env: TabularEnv, policy: Table, *, filler: bool) -> Walk:
    """Return the walk of `policy` in `env`; with `filler`, a filler row follows each episode."""
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
    zeros, never = np.zeros(actions, int), np.zeros(actions, bool)
    pair = len(state) * actions + np.arange(actions)
    filled = Outcomes(pair, zeros, zeros, np.ones(actions), np.zeros(actions), never, never)
    parts = zip(_restarted(outcomes, filler_law), _restarted(filled, start), strict=True)
    policy = np.vstack([policy[state], np.full(actions, 1 / actions)])
    joined = Outcomes(*map(np.concatenate, parts))
    return Walk(np.append(state, 0), np.append(valid, False), policy, start, joined)


def normalised(table: Float[np.ndarray, "..."]) -> Float[np.ndarray, "..."]:
    """Return probabilities that sum to exactly 1; an env's tables may miss it by a millionth."""
    return table / table.sum(axis=-1, keepdims=True)


def choices(policy: Pairs) -> sparse.csr_array:
    """Return [X, X A] a matrix that averages over each state's actions."""
    states, actions = policy.shape
    column = np.arange(states * actions)
    first = np.arange(states + 1) * actions
    return sparse.csr_array((policy.ravel(), column, first), shape=(states, states * actions))


def goes_on(env: TabularEnv, policy: Table) -> Bool[np.ndarray, "S S"]:
    """Return whether a step within an episode can lead from one state to another."""
    found = env.outcomes
    going = (found.probability > 0) & ~found.terminated & (policy > 0)[:, :, None]
    onward = np.zeros((len(policy), len(policy)), bool)
    onward[np.nonzero(going)[0], found.state[going]] = True
    return onward


def closure(
    first: Bool[np.ndarray, " S"], onward: Bool[np.ndarray, "S S"]
) -> Bool[np.ndarray, " S"]:
    """Return the states that can be reached from `first`, themselves included."""
    while ((grown := first | onward[first].any(axis=0)) != first).any():
        first = grown
    return first


def _reached(env: TabularEnv, policy: Table) -> Bool[np.ndarray, "K S"]:
    """Return which states an episode can be in after k steps; without a limit, after any number."""
    onward = goes_on(env, policy)
    if env.time_limit is None:
        return closure(env.start > 0, onward)[None]
    layers = np.zeros((env.time_limit, len(env.start)), bool)
    layers[0] = env.start > 0
    for k in range(1, env.time_limit):
        layers[k] = onward[layers[k - 1]].any(axis=0)
    return layers


def _env_outcomes(env: TabularEnv, policy: Table, layers: Bool[np.ndarray, "K S"]) -> Outcomes:
    """Return the outcomes in all reached states, without a target where an episode ends."""
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


def _restarted(outcomes: Outcomes, law: Law) -> Outcomes:
    """Return the outcomes with every state of `law` as a target of those that end an episode."""
    ends = np.flatnonzero(law)
    copies = np.where(outcomes.carries, 1, len(ends))
    require_room(int(copies.sum()), "the outcomes of all actions")
    row = np.repeat(np.arange(len(copies)), copies)
    turn = np.arange(len(row)) - np.repeat(np.cumsum(copies) - copies, copies)
    rows = Outcomes(*(part[row] for part in outcomes))
    return rows._replace(
        target=np.where(rows.carries, rows.target, ends[turn]),
        probability=rows.probability * np.where(rows.carries, 1.0, law[ends][turn]),
    )


@dataclass(frozen=True, eq=False)
class Chain(Walk):
    """A walk with expectations over one step, for every state X and action A.

    Links E are the possible (pair, target). Their numbers are expectations over the outcomes of
    the pair that lead to the target: of 1, of the temporal difference delta, of the factor c that
    carries the next advantage on (gamma lam within an episode, else 0), and of delta c.
    """

    pair: Int[np.ndarray, " E"]
    target: Int[np.ndarray, " E"]
    probability: Links
    delta: Links
    carry: Links
    delta_carry: Links
    mean_delta: Pairs
    mean_delta_square: Pairs
    bootstrap: sparse.csr_array  # [X A, S] gamma times the probability to go on from each state
    factor: float  # gamma lam

    def pairs(self, weight: Links) -> sparse.csr_array:
        """Return the links' numbers as a matrix [X A, X]."""
        shape = self.policy.size, len(self.policy)
        return sparse.csr_array((weight, self.target, self._rows), shape=shape)

    def each(self, weight: Links, after: Float[np.ndarray, "X ..."]) -> np.ndarray:
        """Return [X, A, ...]: for each state and action the weighted sum of what comes after."""
        return (self.pairs(weight) @ after).reshape(*self.policy.shape, *after.shape[1:])

    @cached_property
    def moves(self) -> sparse.csr_array:
        """[X, X] the probability of each next state."""
        return self._averaged(self.probability)

    @cached_property
    def deltas(self) -> sparse.csr_array:
        """[X, X] the expectation of delta on the way to each next state."""
        return self._averaged(self.delta)

    @cached_property
    def carries(self) -> sparse.csr_array:
        """[X, X] the expectation of c on the way to each next state."""
        return self._averaged(self.carry)

    def laws(self, law: Law, count: int, stride: int = 1) -> Float[np.ndarray, "T X"]:
        """Return the laws of the state at every `stride`-th step, the first being `law`."""
        backwards = self.moves.T.tocsr()
        laws = [law]
        for _ in range(count - 1):
            for _ in range(stride):
                law = backwards @ law
            laws.append(law)
        return np.stack(laws)

    @cached_property
    def _rows(self) -> Int[np.ndarray, " rows"]:
        return np.concatenate([[0], np.cumsum(np.bincount(self.pair, minlength=self.policy.size))])

    def _averaged(self, weight: Links) -> sparse.csr_array:
        return (choices(self.policy) @ self.pairs(weight)).tocsr()


def chain(steps: Walk, values: Float[np.ndarray, " S"], *, gamma: float, lam: float) -> Chain:
    """Return the chain of a walk under a critic's values.

    delta = r + gamma V(s') - V(s), where V(s') is 0 after a death and the value of the state
    before the reset after a time limit; a filler row has delta 0.
    """
    outcomes, (states, actions) = steps.outcomes, steps.policy.shape
    state = outcomes.pair // actions
    rest = gamma * outcomes.bootstraps * values[outcomes.after]
    delta = steps.valid[state] * (outcomes.reward + rest - values[steps.observation[state]])
    carry = gamma * lam * outcomes.carries
    key, link = np.unique(outcomes.pair * states + outcomes.target, return_inverse=True)

    def by_link(value: np.ndarray) -> Links:
        return np.bincount(link, outcomes.probability * value, len(key))

    def by_pair(value: np.ndarray) -> Pairs:
        sums = np.bincount(outcomes.pair, outcomes.probability * value, states * actions)
        return sums.reshape(states, actions)

    weight = gamma * outcomes.probability * outcomes.bootstraps
    return Chain(
        **vars(steps),
        pair=key // states,
        target=key % states,
        probability=by_link(np.ones_like(delta)),
        delta=by_link(delta),
        carry=by_link(carry),
        delta_carry=by_link(delta * carry),
        mean_delta=by_pair(delta),
        mean_delta_square=by_pair(delta**2),
        bootstrap=sparse.csr_array(
            (weight, (outcomes.pair, outcomes.after)), shape=(states * actions, len(values))
        ),
        factor=gamma * lam,
    )
