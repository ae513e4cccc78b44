"""Linear systems of Markov chains: where they stay, and what adds up along them."""

import numpy as np
from jaxtyping import Bool, Float
from scipy import sparse
from scipy.sparse import csgraph
from scipy.sparse.linalg import splu

from nbyt.errors import UsageError

# Expected steps before the end beyond which a chain counts as endless: rounding rules the rest.
_ENDLESS = 1e12


def stationary(moves: sparse.csr_array) -> Float[np.ndarray, " X"]:
    """The law that a step does not change; also where the chain is periodic.

    With the probability of one state set to 1 the others follow from
    d_rest (I - P_rest) = P_one, which has one solution in a set that the chain cannot leave.
    """
    inside = _closed(moves)
    numbers = np.flatnonzero(inside)
    law = np.zeros(len(inside))
    law[numbers[0]] = 1.0
    if len(numbers) > 1:
        # The busiest target is mostly the start state, without which little of the chain is cyclic.
        flow = moves[numbers][:, numbers]
        one = int(np.argmax(np.bincount(flow.indices, minlength=len(numbers))))
        rest = np.delete(np.arange(len(numbers)), one)
        system = sparse.eye_array(len(rest)) - flow[rest][:, rest]
        row = flow[[one]][:, rest].toarray()[0]
        law[numbers[0]] = 0.0
        law[numbers[one]] = 1.0
        law[numbers[rest]] = splu(system.T.tocsc()).solve(row)
    return law / law.sum()


def potential(
    moves: sparse.csr_array, law: Float[np.ndarray, " X"], gain: Float[np.ndarray, "X p"]
) -> Float[np.ndarray, "X p"]:
    """H with (I - P) H = gain and law H = 0, for a gain whose mean under `law` is 0.

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
    """What gain + carries gain + carries^2 gain + ... adds up to, or an error if it does not."""
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
    """The one set of states that the chain ends up in."""
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
