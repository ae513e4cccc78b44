"""Values of states and actions: of a policy, and of the best one."""

from typing import NamedTuple

import numpy as np
from jaxtyping import Bool, Float
from scipy import sparse
from scipy.sparse import csgraph
from scipy.sparse.linalg import splu

from nbyt.envs.tabular import TabularEnv
from nbyt.errors import UsageError
from nbyt.exact.walk import Law, Table, Vectors, choices, closure, goes_on, normalised

# Expected steps before the end beyond which a chain counts as endless: rounding rules the rest.
_ENDLESS = 1e12


def stationary(moves: sparse.csr_array) -> Law:
    """Return the law that a step does not change; also where the chain is periodic.

    With the probability of one state set to 1 the others follow from
    d_rest (I - P_rest) = P_one, which has one solution in a set that the chain cannot leave.
    """
    inside = _closed(moves)
    numbers, law = np.flatnonzero(inside), np.zeros(len(inside))
    flow = moves[numbers][:, numbers]
    # The busiest target is mostly the start state, without which little of the chain is cyclic.
    one = int(np.argmax(np.bincount(flow.indices, minlength=len(numbers))))
    rest = np.delete(np.arange(len(numbers)), one)
    law[numbers[one]] = 1.0
    if len(rest):
        system = sparse.eye_array(len(rest)) - flow[rest][:, rest]
        law[numbers[rest]] = splu(system.T.tocsc()).solve(flow[[one]][:, rest].toarray()[0])
    return law / law.sum()


def potential(moves: sparse.csr_array, law: Law, gain: Vectors) -> Vectors:
    """Return H with (I - P) H = gain and law H = 0, for a gain whose mean under `law` is 0.

    It is the solution of (I - P + 1 law) H = gain, found with a sparse matrix.
    """
    one = int(np.argmax(law))
    rest = np.delete(np.arange(len(law)), one)
    made = np.zeros_like(gain)
    if len(rest):
        system = sparse.eye_array(len(rest)) - moves[rest][:, rest]
        made[rest] = splu(system.tocsc()).solve(gain[rest])
    return made - law @ made


def discounted(
    carries: sparse.csr_array, gain: Float[np.ndarray, "X ..."], *, what: str
) -> Float[np.ndarray, "X ..."]:
    """Return gain + carries gain + carries^2 gain + ...; raise if that does not converge."""
    system = sparse.eye_array(carries.shape[0]) - carries
    try:
        solver = splu(system.tocsc())
    except RuntimeError as error:  # SciPy's word for an exactly singular matrix
        raise _endless(what) from error
    steps = solver.solve(np.ones(len(gain)))
    if not np.isfinite(steps).all() or steps.min() < 0.5 or steps.max() > _ENDLESS:
        raise _endless(what)
    return solver.solve(gain)


def _closed(moves: sparse.csr_array) -> Bool[np.ndarray, " X"]:
    """Return the one set of states that the chain ends up in."""
    count, label = csgraph.connected_components(moves, connection="strong")
    source, target = moves.nonzero()
    leaves = np.unique(label[source][label[source] != label[target]])
    closed = np.setdiff1d(np.arange(count), leaves)
    if len(closed) > 1:
        raise UsageError(
            f"the chain can get caught in {len(closed)} separate sets of states, so it has no "
            "single stationary law",
            where="env",
            fix="let episodes end (terminated, or a time limit), so that all start again",
        )
    return label == closed[0]


def _endless(what: str) -> UsageError:
    return UsageError(
        f"{what} is an endless sum: nothing discounts it and some episode never ends",
        where="gamma",
        fix="use gamma < 1",
    )


_IMPROVES = 1e-12


class Values(NamedTuple):
    """Discounted returns from each state, and from each state and action; no time limit."""

    state: Float[np.ndarray, " S"]
    action: Table

    @property
    def advantage(self) -> Table:
        """How much better an action is than the policy."""
        return self.action - self.state[:, None]


def policy_values(env: TabularEnv, policy: Table, gamma: float) -> Values:
    """Return the values of a policy; 0 in states that no episode reaches.

    V = (I - gamma P)^-1 r with P the policy's transitions that end no episode, and
    Q(s, a) = r(s, a) + gamma E V(s').
    """
    reached = np.flatnonzero(closure(env.start > 0, goes_on(env, policy)))
    going, reward = _one_step(env)
    flow = (choices(policy) @ going)[reached][:, reached]
    gain = (policy * reward).sum(axis=1)[reached]
    state, what = np.zeros(len(policy)), "the value of this policy without a time limit"
    state[reached] = discounted(gamma * flow, gain, what=what)
    return Values(state, reward + gamma * (going @ state).reshape(reward.shape))


def optimal_values(env: TabularEnv, gamma: float) -> Values:
    """Return the values of the best policy for gamma < 1, by policy iteration."""
    going, reward = _one_step(env)
    flow, (states, actions) = gamma * going, reward.shape
    best = reward.argmax(axis=1)
    rows = np.arange(states)
    while True:
        chosen = rows * actions + best
        state = discounted(flow[chosen], reward.ravel()[chosen], what="the best policy's value")
        action = reward + (flow @ state).reshape(states, actions)
        gain = action.max(axis=1) - action[rows, best]
        if gain.max() <= _IMPROVES * (1 + np.abs(action).max()):
            return Values(action.max(axis=1), action)
        best = np.where(gain > 0, action.argmax(axis=1), best)


def _one_step(env: TabularEnv) -> tuple[sparse.csr_array, Table]:
    """Return the probabilities [S A, S] of going on to each state, and the mean reward."""
    outcomes, probability = env.outcomes, normalised(env.outcomes.probability)
    states, actions, width = probability.shape
    place = np.arange(states * actions).repeat(width), outcomes.state.ravel()
    weight = (probability * ~outcomes.terminated).ravel()
    going = sparse.csr_array((weight, place), shape=(states * actions, states))
    going.eliminate_zeros()
    return going, (probability * outcomes.reward).sum(axis=2)
