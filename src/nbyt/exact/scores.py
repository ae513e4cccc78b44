"""A stage as tables: action probabilities, values, and how they change with each parameter."""

from dataclasses import dataclass
from functools import partial
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
from jax.flatten_util import ravel_pytree
from jaxtyping import Float, Int
from scipy.special import log_softmax

from nbyt.errors import UsageError
from nbyt.exact.limits import require_room
from nbyt.policy.actor_critic import ActorCritic, Params, Stage

# How far from 0 a state's mean score may be, compared with the largest score.
_SCORE_ROUNDING = 1e-5


@dataclass(frozen=True, eq=False)
class Features:
    """Scores given by hand: d log pi(a|s) [S, A, p] and d V(s) [S, q] by the parameters.

    For policies whose parameters are shared in a way that no network here can express. The
    probabilities and values themselves still come from the stage. The total gradient's
    parameters are the actor's followed by the critic's.
    """

    actor: Float[np.ndarray, "S A p"]
    critic: Float[np.ndarray, "S q"]


@dataclass(frozen=True, eq=False)
class Block:
    """Vectors over `size` parameters, for each state and action; all but `index` are 0."""

    size: int
    index: Int[np.ndarray, "S k"]
    value: Float[np.ndarray, "S A k"]


class Scores(NamedTuple):
    """A stage's probabilities and values, and the derivatives of both.

    joint: actor and critic count the same parameters, not each its own.
    """

    policy: Float[np.ndarray, "S A"]
    values: Float[np.ndarray, " S"]
    actor: Block
    critic: Block
    joint: bool


def scores(stage: Stage, features: Features | None = None) -> Scores:
    """Return the scores of a stage on numbered states, or those given as features.

    Parameters are counted as follows. A table: the actor's are logits [S, A] row by row, the
    critic's are values [S], the total's are both, one after the other. Any other network: all
    three count those of `jax.flatten_util.ravel_pytree((actor, critic, torso))`.
    """
    table = stage.policy.network.kind == "table"
    found = _table_scores(stage.params) if table else _network_scores(stage)
    return found if features is None else _with_features(found, features)


def _table_scores(params: Params) -> Scores:
    """Return d log pi(a|s) / d logit(s, b) = 1{a = b} - pi(b|s); d V(s) / d value(s) = 1."""
    logits = np.asarray(params.actor["logits"], np.float64)
    values = np.asarray(params.critic["values"], np.float64)
    states, actions = logits.shape
    policy = np.exp(log_softmax(logits, axis=1))
    actor = np.eye(actions)[None] - policy[:, None, :]
    own = np.arange(states)[:, None]
    return Scores(
        policy,
        values,
        Block(states * actions, own * actions + np.arange(actions), actor),
        Block(states, own, np.ones((states, actions, 1))),
        joint=False,
    )


def _network_scores(stage: Stage) -> Scores:
    """Return scores by automatic differentiation, in double precision."""
    params = stage.params.actor, stage.params.critic, stage.params.torso
    exact = jax.tree.map(lambda leaf: np.asarray(leaf, np.float64), params)
    states, actions = stage.policy.shape[0], stage.policy.head.outputs
    size = sum(leaf.size for leaf in jax.tree.leaves(exact))
    require_room(2 * states * actions * size, "the scores of this network")
    with jax.enable_x64(True):
        (log_probs, values), (actor, critic) = _derivatives(stage.policy, exact)
    return Scores(
        np.exp(np.asarray(log_probs)),
        np.asarray(values),
        _dense(np.asarray(actor), actions),
        _dense(np.asarray(critic), actions),
        joint=True,
    )


@partial(jax.jit, static_argnums=0)
def _derivatives(policy: ActorCritic, params: Any) -> tuple[Any, Any]:
    """Return (log pi [S, A], V [S]) and the derivatives of both by all parameters."""
    flat, unravel = ravel_pytree(params)
    states = jnp.arange(policy.shape[0])

    def outputs(flat: jax.Array, state: jax.Array) -> tuple[jax.Array, jax.Array]:
        own = Params(*unravel(flat))
        log_probs = jax.nn.log_softmax(policy.parameters(own, state))
        return log_probs, policy.value(own, state)

    by_state = partial(jax.vmap, in_axes=(None, 0))
    return by_state(outputs)(flat, states), by_state(jax.jacrev(outputs))(flat, states)


def _with_features(found: Scores, features: Features) -> Scores:
    states, actions = found.policy.shape
    actor, critic = (np.asarray(part, np.float64) for part in (features.actor, features.critic))
    if actor.shape[:-1] != (states, actions) or critic.shape[:-1] != (states,):
        raise UsageError(
            f"features have shapes {actor.shape} and {critic.shape}, not [{states}, {actions}, p] "
            f"and [{states}, q]",
            where="features",
            fix="give Features(actor=[S, A, p], critic=[S, q])",
        )
    mean = np.abs(np.einsum("sa,sap->sp", found.policy, actor)).max(initial=0.0)
    if mean > _SCORE_ROUNDING * np.abs(actor).max(initial=0.0):
        raise UsageError(
            f"a state's mean score is {mean:.3g}; scores of a policy have mean 0 in every state",
            where="features",
            fix="give d log pi(a|s) / d parameter, with pi the stage's own probabilities",
        )
    blocks = _dense(actor, actions), _dense(critic, actions)
    return found._replace(actor=blocks[0], critic=blocks[1], joint=False)


def _dense(value: np.ndarray, actions: int) -> Block:
    """Return vectors [S, A, p], or those of states alone [S, p], as a block of all parameters."""
    states, size = len(value), value.shape[-1]
    value = value if value.ndim == 3 else value[:, None]
    index = np.broadcast_to(np.arange(size), (states, size))
    return Block(size, index, np.broadcast_to(value, (states, actions, size)))
