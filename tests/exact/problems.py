"""Small problems, and stages that keep double precision."""

import numpy as np
from scipy.special import softmax

from nbyt.envs import tabular
from nbyt.envs.tabular import TabularEnv
from nbyt.policy.actor_critic import Params, Stage, table

PARTS = ("actor", "critic", "total")
# Options of a question that change what the walk or its advantages are.
MODES = [
    {},
    {"start": "reset"},
    {"centre": True},
    {"start": "reset", "autoreset": "next-step", "centre": True},
]


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


def two_rewards_problem(seed: int, states: int, actions: int, *, time_limit=None, ends=0.3):
    """A random MDP in which every next state comes with two rewards, and may end or not."""
    generator = np.random.default_rng(seed)
    law = generator.dirichlet(np.ones(2 * states), (states, actions))
    reward, ended = generator.normal(size=law.shape), generator.random(law.shape) < ends
    after = np.arange(2 * states) // 2
    rows = [
        [
            list(zip(law[s, a], after, reward[s, a], ended[s, a], strict=True))
            for a in range(actions)
        ]
        for s in range(states)
    ]
    start = generator.dirichlet(np.ones(states))
    env = tabular.from_outcomes(rows, start, time_limit=time_limit)
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
    value = np.zeros(len(policy))
    while True:
        after = (policy * action_values(env, value, gamma)).sum(axis=1)
        if np.array_equal(after, value):
            return value
        value = after


def action_values(env: TabularEnv, value: np.ndarray, gamma: float) -> np.ndarray:
    """E[r + gamma V(s')] of every state and action, where V is 0 after a death."""
    made = env.outcomes
    rest = np.where(made.terminated, 0.0, value[made.state])
    return (made.probability * (made.reward + gamma * rest)).sum(axis=2)


def going_on(env: TabularEnv) -> np.ndarray:
    """The probability [S, A, S] of each next state within the episode."""
    made, shape = env.outcomes, env.outcomes.state.shape
    going = np.zeros((*shape[:2], len(env.start)))
    for s, a, k in np.ndindex(*shape):
        going[s, a, made.state[s, a, k]] += made.probability[s, a, k] * ~made.terminated[s, a, k]
    return going


def cycle(length: int):
    """States that follow each other; the last one ends the episode."""
    transition = np.zeros((length, 2, length))
    transition[np.arange(length), :, (np.arange(length) + 1) % length] = 1
    terminated = np.zeros_like(transition, bool)
    terminated[-1] = True
    reward = np.random.default_rng(4).normal(size=(length, 2, 1)) * np.ones(length)
    env = tabular.from_arrays(transition, reward, terminated, np.eye(length)[0])
    _, stage = random_problem(4, length, 2)
    return env, stage


def endless():
    """One state that is never left, with reward 1."""
    one = np.ones((1, 1, 1))
    return tabular.from_arrays(one, one, one < 0, [1.0]), double_stage([[0.0]], [0.0])
