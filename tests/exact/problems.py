"""Small problems, and stages that keep double precision."""

import numpy as np
from scipy.special import softmax

from nbyt.envs import tabular
from nbyt.envs.tabular import TabularEnv
from nbyt.policy import Params, Stage, table

PARTS = ("actor", "critic", "total")


def double_stage(logits, values) -> Stage:
    """A table whose numbers are not rounded to single precision, for laws to the last digit."""
    made = table(logits, values)
    params = Params({"logits": np.asarray(logits, float)}, {"values": np.asarray(values, float)})
    return Stage(made.policy, params)


def random_problem(seed: int, states: int, actions: int, *, time_limit=None, ends=0.2):
    """A random MDP with deaths, a random policy and a critic that is wrong everywhere."""
    generator = np.random.default_rng(seed)
    shape = (states, actions, states)
    env = tabular.from_arrays(
        generator.dirichlet(np.ones(states), (states, actions)),
        generator.normal(size=shape),
        generator.random(shape) < ends,
        generator.dirichlet(np.ones(states)),
        time_limit=time_limit,
    )
    logits, values = generator.normal(size=(states, actions)), generator.normal(size=states)
    return env, double_stage(logits, values)


def probabilities(stage: Stage) -> np.ndarray:
    """The action probabilities of a table stage."""
    return softmax(np.asarray(stage.params.actor["logits"], float), axis=1)


def values_of(stage: Stage) -> np.ndarray:
    """The critic of a table stage."""
    return np.asarray(stage.params.critic["values"], float)


def iterated_values(env: TabularEnv, policy: np.ndarray, gamma: float) -> np.ndarray:
    """The policy's values by going through Bellman's equation until nothing changes."""
    going = env.transition * ~env.terminated
    reward = np.einsum("sa,sat,sat->s", policy, env.transition, env.reward)
    value = np.zeros(len(policy))
    while True:
        after = reward + gamma * np.einsum("sa,sat,t->s", policy, going, value)
        if np.array_equal(after, value):
            return value
        value = after


def without_limit(name: str) -> TabularEnv:
    """A Gymnasium env as tables, without its time limit."""
    env = tabular.find(name)
    return tabular.from_arrays(env.transition, env.reward, env.terminated, env.start)
