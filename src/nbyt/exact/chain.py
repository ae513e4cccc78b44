"""The walk with its rewards and its critic: all that expectations over one step need."""

from dataclasses import dataclass
from functools import cached_property, partial

import numpy as np
from jaxtyping import Bool, Float, Int
from scipy import sparse

from nbyt.exact.walk import Walk, choices


@dataclass(frozen=True, eq=False)
class Chain:
    """Expectations over one step of a walk, for every state X and action A.

    Links E are the possible (pair, target). Their numbers are expectations over the outcomes of
    the pair that lead to the target: of 1, of the temporal difference delta, of the factor c that
    carries the next advantage on (gamma lam within an episode, else 0), and of delta c.
    """

    observation: Int[np.ndarray, " X"]
    valid: Bool[np.ndarray, " X"]
    policy: Float[np.ndarray, "X A"]
    start: Float[np.ndarray, " X"]
    pair: Int[np.ndarray, " E"]
    target: Int[np.ndarray, " E"]
    probability: Float[np.ndarray, " E"]
    delta: Float[np.ndarray, " E"]
    carry: Float[np.ndarray, " E"]
    delta_carry: Float[np.ndarray, " E"]
    mean_delta: Float[np.ndarray, "X A"]
    mean_delta_square: Float[np.ndarray, "X A"]
    bootstrap: sparse.csr_array  # [X A, S] gamma times the probability to go on from each state
    factor: float  # gamma lam

    def pairs(self, weight: Float[np.ndarray, " E"]) -> sparse.csr_array:
        """The links' numbers as a matrix [X A, X]."""
        states, actions = self.policy.shape
        shape = states * actions, states
        return sparse.csr_array((weight, self.target, self._rows), shape=shape)

    def each(
        self, weight: Float[np.ndarray, " E"], after: Float[np.ndarray, "X ..."]
    ) -> np.ndarray:
        """[X, A, ...]: for each state and action the weighted sum of what comes after."""
        made = self.pairs(weight) @ after
        return made.reshape(*self.policy.shape, *after.shape[1:])

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

    def laws(self, law: Float[np.ndarray, " X"], steps: int) -> Float[np.ndarray, "T X"]:
        """The law of the state at each of `steps` steps, the first being `law`."""
        backwards = self.moves.T.tocsr()
        laws = [law]
        for _ in range(steps - 1):
            laws.append(backwards @ laws[-1])
        return np.stack(laws)

    @cached_property
    def _rows(self) -> Int[np.ndarray, " rows"]:
        return np.concatenate([[0], np.cumsum(np.bincount(self.pair, minlength=self.policy.size))])

    def _averaged(self, weight: Float[np.ndarray, " E"]) -> sparse.csr_array:
        return (choices(self.policy) @ self.pairs(weight)).tocsr()


def chain(steps: Walk, values: Float[np.ndarray, " S"], *, gamma: float, lam: float) -> Chain:
    """The chain of a walk under a critic's values.

    delta = r + gamma V(s') - V(s), where V(s') is 0 after a death and the value of the state
    before the reset after a time limit; a filler row has delta 0.
    """
    outcomes, (states, actions) = steps.outcomes, steps.policy.shape
    state = outcomes.pair // actions
    rest = gamma * outcomes.bootstraps * values[outcomes.after]
    delta = steps.valid[state] * (outcomes.reward + rest - values[steps.observation[state]])
    carry = gamma * lam * outcomes.carries

    key, link = np.unique(outcomes.pair * states + outcomes.target, return_inverse=True)
    by_link = partial(_sums, link, len(key), outcomes.probability)
    by_pair = partial(_sums, outcomes.pair, states * actions, outcomes.probability)
    weight = gamma * outcomes.probability * outcomes.bootstraps
    return Chain(
        observation=steps.observation,
        valid=steps.valid,
        policy=steps.policy,
        start=steps.start,
        pair=key // states,
        target=key % states,
        probability=by_link(np.ones_like(delta)),
        delta=by_link(delta),
        carry=by_link(carry),
        delta_carry=by_link(delta * carry),
        mean_delta=by_pair(delta).reshape(states, actions),
        mean_delta_square=by_pair(delta**2).reshape(states, actions),
        bootstrap=sparse.csr_array(
            (weight, (outcomes.pair, outcomes.after)), shape=(states * actions, len(values))
        ),
        factor=gamma * lam,
    )


def _sums(
    group: Int[np.ndarray, " O"],
    groups: int,
    probability: Float[np.ndarray, " O"],
    value: Float[np.ndarray, " O"],
) -> Float[np.ndarray, " groups"]:
    """Sums of probability times value over the outcomes of each group."""
    return np.bincount(group, probability * value, groups)
