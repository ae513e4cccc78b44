"""What can be asked: the checks of every argument, and how large a problem may be."""

from typing import Any

from nbyt.envs.tabular import TabularEnv
from nbyt.errors import UsageError
from nbyt.policy.actor_critic import Stage
from nbyt.policy.distributions import Categorical

# Numbers of 8 bytes that one calculation may hold at a time: 2 GB, which any laptop has.
MOST_NUMBERS = 2**28


def require_env(env: Any) -> None:
    """Raise if `env` has no tables to calculate with."""
    if not isinstance(env, TabularEnv):
        raise UsageError(
            f"exact answers need an env that is a table, not {type(env).__name__}",
            where="env",
            fix="use nbyt.envs.tabular.from_arrays(...) or nbyt.envs.tabular.find('FrozenLake-v1')",
        )


def require_stage(policy: Any, env: Any) -> None:
    """Raise if `env` is no table, or `policy` not a stage for its states and actions."""
    require_env(env)
    if not isinstance(policy, Stage):
        raise UsageError(
            f"the policy is a {type(policy).__name__}, not a Stage",
            where="policy",
            fix="use nbyt.policy.table(logits, values), or a stage of a training run",
        )
    states, actions, _ = env.outcomes.state.shape
    network, head = policy.policy, policy.policy.head
    reads = network.kind == "index" and network.shape == (states,)
    if not reads or not isinstance(head, Categorical) or head.actions != actions:
        raise UsageError(
            f"this stage reads {network.kind} observations of shape {network.shape} and gives "
            f"{head}; {env.id} has {states} numbered states and {actions} actions",
            where="policy",
            fix="use a stage that was made for this env",
        )


def require_choice(name: str, value: Any, choices: tuple[str, ...]) -> None:
    """Raise if `value` is not one of the choices."""
    if value not in choices:
        raise UsageError(
            f"{name} is {value!r}", where=name, fix=f"one of: {', '.join(map(repr, choices))}"
        )


def require_room(numbers: int, what: str) -> None:
    """Raise if `numbers` are more than one calculation may hold."""
    if numbers > MOST_NUMBERS:
        raise UsageError(
            f"{what} would need {numbers:,} numbers at a time ({numbers * 8 / 2**30:.1f} GB); "
            f"the most is {MOST_NUMBERS:,}",
            where="size",
            fix="rebuild the env with from_arrays(..., time_limit=None) or a smaller limit, take "
            "fewer steps, or a policy with fewer parameters (`features=`)",
        )
