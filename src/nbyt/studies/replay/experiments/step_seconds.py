"""Seconds of a gradient step of DQN, from one transition to the whole buffer."""

import time
from functools import partial
from typing import Any

import jax
import numpy as np

from nbyt.collect.replay import Replay, read
from nbyt.envs import resolve
from nbyt.objective.dqn import Transitions
from nbyt.policy.q_policy import QPolicy
from nbyt.results.values import Data
from nbyt.rng import numpy_stream
from nbyt.stats import mean
from nbyt.studies.bench import Bench
from nbyt.studies.numbers import typical_ratio
from nbyt.studies.replay.buffer_tasks import Task, tasks
from nbyt.studies.replay.experiments.gradients import SIZES
from nbyt.studies.study import Experiment
from nbyt.train.dqn import QLearner, improve, rates_of
from nbyt.train.dqn_algorithm import beginning
from nbyt.train.dqn_plan import DQNPlan
from nbyt.train.dqn_settings import DQNSettings

ROUNDS = (8, 20)
USUAL = 32
# Transitions that one call processes, so that a call's own cost is small beside its steps'.
_PROCESSED = 2048
_MOST_STEPS = 64


def run(bench: Bench) -> Data:
    """Seconds of a step by size, and each over that of the usual size, for each task's network."""
    return {"cases": [_timed(bench, task) for task in tasks(bench)]}


def _timed(bench: Bench, task: Task) -> Data:
    sizes = (*SIZES, task.layout.buffer)
    programs = _programs(bench, task, sizes)
    rounds = bench.pick(*ROUNDS)
    found: dict[int, list[float]] = {size: [] for size in sizes}
    for turn in range(rounds + 1):
        bench.progress(f"timing {task.name}", turn, rounds + 1)
        # All sizes in turn, so that a busy machine slows all of them.
        for size, program in programs.items():
            began = time.perf_counter()
            jax.block_until_ready(program())
            found[size].append((time.perf_counter() - began) / _steps(size))
    # The first round compiles and does not count.
    seconds = {size: values[1:] for size, values in found.items()}
    ratios = {size: typical_ratio(own, seconds[USUAL]) for size, own in seconds.items()}
    return {
        "env": task.name,
        "network": task.settings.network,
        "sizes": list(sizes),
        "seconds": [mean(np.array(seconds[size])).as_dict() for size in sizes],
        "ratios": [{**ratios[size].as_dict(), "approximate": True} for size in sizes],
    }


def _programs(bench: Bench, task: Task, sizes: tuple[int, ...]) -> dict[int, Any]:
    """A call without arguments for each size, which makes some gradient steps."""
    env, settings = resolve(task.env), task.settings
    total = task.moments[-1]
    plan = DQNPlan(env.id, task.layout, total, bench.seed, settings, ())
    policy, learner = beginning(plan, env)
    generator = numpy_stream(bench.seed, "step-seconds", 0)
    replay = Replay(jax.device_put(_rows(env.observation_space, task.layout.buffer, generator)))
    found = {}
    for size in sizes:
        places = generator.integers(task.layout.buffer, size=(_steps(size), size), dtype=np.int32)
        found[size] = partial(_improved, policy, settings.form, learner, replay, places)
    return found


@partial(jax.jit, static_argnames=("policy", "settings"))
def _improved(
    policy: QPolicy, settings: DQNSettings, learner: QLearner, replay: Replay, places: jax.Array
) -> QLearner:
    rates = rates_of(DQNSettings())
    return improve(policy, settings, learner, read(replay, places), rates)[0]


def _steps(size: int) -> int:
    return max(1, min(_MOST_STEPS, _PROCESSED // size))


def _rows(space: Any, count: int, generator: np.random.Generator) -> Transitions:
    """Transitions of the right shape: how long a step takes does not depend on what is in them."""

    def seen() -> np.ndarray:
        if not space.shape:
            return generator.integers(space.n, size=count, dtype=np.int32)
        return generator.normal(size=(count, *space.shape)).astype(np.float32)

    action, reward = np.zeros(count, np.int32), generator.normal(size=count).astype(np.float32)
    columns: Any = (seen(), action, reward, np.zeros(count, bool), seen(), np.ones(count, bool))
    return Transitions(*columns)


EXPERIMENTS = (Experiment("step-seconds", "seconds of a gradient step", run, alone=True),)
