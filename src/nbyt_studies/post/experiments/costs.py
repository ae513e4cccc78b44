"""Memory and seconds of a full-batch update and of one by mini-batches."""

import time
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Float

from nbyt.envs import resolve
from nbyt.layout import Layout
from nbyt.minibatch import shuffle_and_chop
from nbyt.policy.actor_critic import ActorCritic
from nbyt.results.values import Data
from nbyt.rng import numpy_stream, stream
from nbyt.stats import mean
from nbyt.training.algorithms.ppo import improve, initial_learner, trained
from nbyt.training.plan import PPOPlan, PPOSettings
from nbyt.training.sources import DeviceSource, Learner, SourceBatch, coefficients_of
from nbyt_studies.experiment import Context, Experiment
from nbyt_studies.numbers import typical_ratio

ENVS = {"gymnax:CartPole-v1": "64x64", "gymnax:Breakout-MinAtar": "cnn"}
MINIBATCHES = {"full batch": 2048, "mini-batch": 64}
EPOCHS = 1
ROUNDS = {"gymnax:CartPole-v1": (20, 60), "gymnax:Breakout-MinAtar": (3, 6)}


class _UpdateInputs(NamedTuple):
    """Everything that an update needs."""

    policy: ActorCritic
    settings: PPOSettings
    learner: Learner
    collected: SourceBatch


class _Program(NamedTuple):
    """A compiled update of actor or critic, with its arguments."""

    compiled: Any
    arguments: tuple[Any, ...]

    @property
    def bytes(self) -> int:
        """Its memory, arguments and results included."""
        needs = self.compiled.memory_analysis()
        sizes = (needs.temp_size_in_bytes, needs.argument_size_in_bytes, needs.output_size_in_bytes)
        return int(sum(sizes))


def run(context: Context) -> Data:
    """Measure bytes and seconds of both kinds of update, on each env."""
    rows = []
    for number, (env, network) in enumerate(ENVS.items()):
        context.progress(f"compiling updates of {env}", number, len(ENVS))
        inputs = _inputs_of(env, network, context.seed)
        programs = {
            name: _programs(inputs, _indices(size, context.seed))
            for name, size in MINIBATCHES.items()
        }
        seconds = _seconds(context, env, programs)
        memory = {name: sum(one.bytes for one in some) for name, some in programs.items()}
        rows.append(
            {
                "env": env,
                "network": network,
                "bytes": memory,
                "seconds": {name: mean(some).as_dict() for name, some in seconds.items()},
                "update_ratio": _ratio(seconds),
            }
        )
    return {"rows": rows, "epochs": EPOCHS, "minibatches": MINIBATCHES}


def _inputs_of(id: str, network: str, seed: int) -> _UpdateInputs:
    env: Any = resolve(id)
    settings, layout = PPOSettings(network=network), Layout(16, 128)
    key = stream(jax.random.key(seed), "costs")
    policy, learner = initial_learner(PPOPlan(id, layout, layout.batch, seed, settings, ()), env)
    source = DeviceSource(env, policy, settings, layout)
    source.begin(learner, seed)
    return _UpdateInputs(policy, settings, learner, source.gather(learner, key))


def _indices(minibatch: int, seed: int) -> np.ndarray:
    layout = Layout(16, 128, minibatch, EPOCHS)
    return shuffle_and_chop(layout, numpy_stream(seed, "costs.shuffle"))


def _programs(update: _UpdateInputs, indices: np.ndarray) -> list[_Program]:
    policy, settings, learner, collected = update
    programs = []
    for part in settings.parts:
        inputs = (trained(learner.params, part), None, learner.optimiser[part], collected.batch)
        rest = (coefficients_of(settings), jnp.float32(settings.learning_rate), indices)
        program = improve.lower(policy, settings.form, part, *inputs, *rest).compile()
        programs.append(_Program(program, (*inputs, *rest)))
    return programs


def _seconds(
    context: Context, env: str, programs: dict[str, list[_Program]]
) -> dict[str, Float[np.ndarray, " rounds"]]:
    """Time an update of both kinds in turn, so that a busy machine slows both."""
    rounds = context.pick(*ROUNDS[env])
    seconds: dict[str, list[float]] = {name: [] for name in programs}
    for turn in range(rounds + 1):
        for name, some in programs.items():
            began = time.perf_counter()
            for one in some:
                jax.block_until_ready(one.compiled(*one.arguments))
            seconds[name].append(time.perf_counter() - began)
            context.progress(f"timing {env}", turn, rounds)
    # The first round warms up and does not count.
    return {name: np.array(values[1:]) for name, values in seconds.items()}


def _ratio(seconds: dict[str, np.ndarray]) -> Data:
    full, mini = seconds["full batch"].tolist(), seconds["mini-batch"].tolist()
    return {**typical_ratio(full, mini).as_dict(), "approximate": True}


EXPERIMENTS = (Experiment("costs", "what a full-batch update costs", run, alone=True),)
