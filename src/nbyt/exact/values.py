"""What states and actions are worth: of a policy, and of the best one."""

from typing import NamedTuple

import numpy as np
from jaxtyping import Float
from scipy import sparse

from nbyt.envs.tabular import TabularEnv
from nbyt.exact.stationary import discounted
from nbyt.exact.walk import choices, closure, goes_on, normalised

_IMPROVES = 1e-12


class Values(NamedTuple):
    """Discounted returns from each state, and from each state and action; no time limit."""

    state: Float[np.ndarray, " S"]
    action: Float[np.ndarray, "S A"]

    @property
    def advantage(self) -> Float[np.ndarray, "S A"]:
        """How much better an action is than the policy."""
        return self.action - self.state[:, None]


def policy_values(env: TabularEnv, policy: Float[np.ndarray, "S A"], gamma: float) -> Values:
    """The values of a policy; 0 in states that no episode reaches.

    V = (I - gamma P)^-1 r with P the policy's transitions that end no episode, and
    Q(s, a) = r(s, a) + gamma E V(s').
    """
    reached = np.flatnonzero(closure(env.start > 0, goes_on(env, policy)))
    going, reward = _one_step(env)
    flow = (choices(policy) @ going)[reached][:, reached]
    gain = (policy * reward).sum(axis=1)[reached]
    state = np.zeros(len(policy))
    state[reached] = discounted(
        gamma * flow, gain, what="the value of this policy without a time limit"
    )
    return Values(state, reward + gamma * (going @ state).reshape(reward.shape))


def optimal_values(env: TabularEnv, gamma: float) -> Values:
    """The values of the best policy for gamma < 1, by policy iteration."""
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


def _one_step(env: TabularEnv) -> tuple[sparse.csr_array, Float[np.ndarray, "S A"]]:
    """The probabilities [S A, S] of going on to each state, and the mean reward."""
    found, probability = env.outcomes, normalised(env.outcomes.probability)
    states, actions, width = probability.shape
    place = np.arange(states * actions).repeat(width), found.state.ravel()
    going = sparse.csr_array(
        ((probability * ~found.terminated).ravel(), place), shape=(states * actions, states)
    )
    going.eliminate_zeros()
    return going, (probability * found.reward).sum(axis=2)
