"""Controls: problems whose answer is known, to hold a measurement against.

Each has a stage that any engine can run, so what is measured and what is calculated are the same.
"""

from dataclasses import dataclass, replace

import numpy as np
from scipy.special import softmax

from nbyt.envs import tabular
from nbyt.envs.tabular import TabularEnv
from nbyt.errors import EnvUsageError
from nbyt.exact.limits import require_choice
from nbyt.exact.values import optimal_values, policy_values
from nbyt.exact.walk import Table
from nbyt.numbers import COUNT, PROBABILITY, require
from nbyt.policy.actor_critic import ActorCritic, Stage, table
from nbyt.policy.distributions import Categorical
from nbyt.policy.networks import Network

# Temperature of the softmax over the best policy's action values; smaller is nearer to the best.
_TEMPERATURES = {"uniform": np.inf, "mid": 0.02, "late": 0.005}


@dataclass(frozen=True, eq=False)
class Control:
    """A problem with a known answer: what to run, how, and what it shows in one sentence."""

    name: str
    env: TabularEnv
    stage: Stage
    sentence: str
    gamma: float = 0.99
    lam: float = 0.95
    batch: int = 128
    steps: tuple[int, ...] = (4, 32)


def sticky(flip: float = 0.02) -> Control:
    """Build the sticky context: the right action depends on a context that the policy ignores.

    The policy is an MLP whose weights are all 0: its logits are its last bias, and only that
    bias has a score, the same in both contexts. Its critic is the bias 1 / (2 (1 - gamma)), the
    true value of an even chance of reward 1.

    Parameters
    ----------
    flip
        Probability that the context changes in a step.

    Returns
    -------
    Control

    Examples
    --------
    >>> control = sticky(0.02)
    >>> control.batch, control.steps
    (128, (8, 32, 128))
    """
    require(PROBABILITY, flip=flip)
    stays = np.array([[1 - flip, flip], [flip, 1 - flip]])
    reward = np.broadcast_to(np.eye(2)[:, :, None], (2, 2, 2))
    env = tabular.from_arrays(
        np.broadcast_to(stays[:, None], (2, 2, 2)),
        reward,
        np.zeros((2, 2, 2), bool),
        [0.5, 0.5],
        id=f"tabular:sticky-{flip:g}",
    )
    policy = ActorCritic("index", (2,), Categorical(2), Network("mlp", (1,)))
    params = policy.init(None)
    params.critic["head"]["b"] += 0.5 / (1 - Control.gamma)
    return Control(
        "sticky",
        env,
        Stage(policy, params, {"env": env.id}),
        "The context hardly changes and all steps in it push the one logit the same way: the "
        "covariance of a rollout's steps is most of the variance.",
        steps=(8, 32, 128),
    )


def frozenlake(policy: str = "mid") -> Control:
    """Build FrozenLake 8x8 without its time limit, with a softmax of the best action values.

    Parameters
    ----------
    policy
        "uniform", "mid" (temperature .02) or "late" (.005). The critic is exact.

    Returns
    -------
    Control

    Examples
    --------
    >>> control = frozenlake("late")
    >>> control.env.id
    'tabular:FrozenLake8x8-v1-without-limit'
    """
    require_choice("policy", policy, tuple(_TEMPERATURES))
    return Control(
        "frozenlake",
        *_near_optimal("FrozenLake8x8-v1", _TEMPERATURES[policy]),
        "Long rollouts are three to four times as noisy here, but not by covariance, which is "
        "below 1 %: each step's own advantage looks further and gets noisier.",
    )


def taxi() -> Control:
    """Build Taxi without its time limit: 3,000 logits, a softmax of the best values, V exact."""
    return Control(
        "taxi",
        *_near_optimal("Taxi-v4", temperature=1.0),
        "A table of 500 states and 6 actions: exact answers are not only for toys of 64 states.",
        batch=512,
    )


def garnet(states: int, actions: int, seed: int) -> Control:
    """Build a random MDP: every action leads to up to 3 random states, one step in 10 is a death.

    Rewards and logits are standard normal, the critic has half the true values.
    """
    require(COUNT, states=states, actions=actions)
    generator = np.random.default_rng(seed)
    width = min(3, states)
    shape = (states, actions, states)
    after = generator.random(shape).argsort(axis=2)[:, :, :width]
    probability = generator.dirichlet(np.ones(width), (states, actions))
    transition = np.zeros(shape)
    np.put_along_axis(transition, after, probability, axis=2)
    env = tabular.from_arrays(
        transition,
        generator.normal(size=shape),
        generator.random(shape) < 0.1,
        generator.dirichlet(np.ones(states)),
        id=f"tabular:garnet-{states}x{actions}-{seed}",
    )
    logits = generator.normal(size=(states, actions))
    return Control(
        "garnet",
        env,
        _softmax_stage(env, logits, 0.95, critic=0.5),
        "A random problem with a wrong critic: bias and variance both matter.",
        gamma=0.95,
        lam=0.9,
    )


def _near_optimal(name: str, temperature: float) -> tuple[TabularEnv, Stage]:
    """Return Gymnasium's env without its limit, and the softmax of its best action values."""
    env = tabular.find(name)
    if env is None:
        raise EnvUsageError(f"Gymnasium has no {name}", fix="install gymnasium[toy-text]")
    env = replace(env, id=f"{env.id}-without-limit", time_limit=None)
    logits = optimal_values(env, Control.gamma).action / temperature
    return env, _softmax_stage(env, logits, Control.gamma)


def _softmax_stage(env: TabularEnv, logits: Table, gamma: float, critic: float = 1.0) -> Stage:
    """Return a table with these logits and `critic` times the true values of their policy."""
    values = policy_values(env, softmax(logits, axis=1), gamma).state
    return replace(table(logits, critic * values), facts={"env": env.id})
