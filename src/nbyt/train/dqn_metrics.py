"""From the tally of a block of DQN updates to a row of the metrics table."""

import jax

from nbyt.errors import TrainingError
from nbyt.train.dqn_plan import DQNPlan
from nbyt.train.metrics import Row, UpdateMetrics, env_fault, finite


def dqn_row(plan: DQNPlan, made: UpdateMetrics) -> Row:
    """The block's numbers as plain floats; an error where the env or the loss gave a NaN."""
    numbers = jax.device_get(made.numbers)
    sizes, first = plan.layout, made.number - numbers["updates"] + 1
    fault = int(numbers["fault"])
    if fault >= 0 and plan.settings.on_nonfinite == "stop":
        time, env = divmod(fault, sizes.envs)
        step = (first - 1) * sizes.steps + time + 1
        raise env_fault(plan, env, step, numbers["fault_action"])
    count, learning = float(numbers["episodes"]), float(numbers["learning"])
    row = {
        "update": made.number,
        "steps": made.number * sizes.fresh,
        "episodes": int(count),
        "mean_return": float(numbers["returns"]) / count if count else None,
        "mean_length": float(numbers["lengths"]) / count if count else None,
        "dropped": float(numbers["dropped"]) / (numbers["updates"] * sizes.fresh),
        "epsilon": plan.epsilon((made.number - 1) * sizes.fresh),
        "gradient_steps": int(learning) * sizes.gradient_steps,
    }
    for name, total in numbers["seen"]._asdict().items():
        row[name] = finite(total / learning) if learning else None
    if learning and row["loss"] is None:
        raise TrainingError(
            "the loss is not a finite number any more",
            where=f"update {made.number}, seed {plan.seed}",
            fix="lower --learning-rate, or make --target-every larger",
        )
    return row
