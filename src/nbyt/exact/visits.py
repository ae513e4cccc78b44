"""Where a policy's rollouts are: the long-run share of steps spent in each state of a table."""

import numpy as np
from jaxtyping import Float

from nbyt.envs.tabular import TabularEnv
from nbyt.exact.chain import chain
from nbyt.exact.limits import require_env, require_stage
from nbyt.exact.scores import scores
from nbyt.exact.stationary import stationary
from nbyt.exact.walk import walk
from nbyt.policy.stage import Stage


def visits(env: TabularEnv, policy: Stage) -> Float[np.ndarray, " S"]:
    """The stationary law of the walk with its resets and its time limit, by state of the env."""
    require_env(env)
    require_stage(policy, env)
    states = len(env.start)
    steps = walk(env, scores(policy).policy, filler=False)
    law = stationary(chain(steps, np.zeros(states), gamma=1.0, lam=1.0).moves)
    return np.bincount(steps.observation, law, minlength=states)
