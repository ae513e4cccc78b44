"""What a full-batch update costs beside one by mini-batches: memory and seconds."""

import time
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np

from nbyt.envs import resolve
from nbyt.layout import Layout
from nbyt.minibatch import shuffle_and_chop
from nbyt.policy.actor_critic import ActorCritic, build
from nbyt.rng import numpy_stream, stream
from nbyt.stats import mean
from nbyt.studies.bench import Bench
from nbyt.studies.numbers import known, typical_ratio
from nbyt.studies.study import Data, Experiment
from nbyt.train.device_source import DeviceSource
from nbyt.train.ppo import Gathered, Learner, coefficients_of, improve, learn, new_learner, trained
from nbyt.train.settings import PPOSettings

ENVS = {"gymnax:CartPole-v1": "64x64", "gymnax:Breakout-MinAtar": "cnn"}
MINIBATCHES = {"full batch": 2048, "mini-batch": 64}
EPOCHS = 4
ROUNDS = (4, 10)


class _Subject(NamedTuple):
    """Everything that an update needs."""

    policy: ActorCritic
    settings: PPOSettings
    learner: Learner
    gathered: Gathered


def run(bench: Bench) -> Data:
    """Bytes and seconds of both kinds of update, on each env."""
    rows = []
    for number, (env, network) in enumerate(ENVS.items()):
        subject = _subject(env, network, bench.seed)
        indices = {name: _indices(size, bench.seed) for name, size in MINIBATCHES.items()}
        memory = {name: _program_bytes(subject, some) for name, some in indices.items()}
        bench.progress(f"updates of {env}", number, len(ENVS))
        seconds = _seconds(bench, env, subject, indices)
        rows.append(
            {
                "env": env,
                "network": network,
                "bytes": memory,
                "memory_ratio": known(memory["full batch"] / memory["mini-batch"]),
                "seconds": {name: mean(some).as_dict() for name, some in seconds.items()},
                **_ratios(seconds),
            }
        )
    return {"rows": rows, "epochs": EPOCHS, "minibatches": MINIBATCHES}


def _subject(id: str, network: str, seed: int) -> _Subject:
    env: Any = resolve(id)
    settings, layout = PPOSettings(network=network), Layout(16, 128)
    policy = build(env.observation_space, env.action_space, settings.parsed_network)
    key = stream(jax.random.key(seed), "costs")
    learner = new_learner(policy, settings, layout, key)
    source = DeviceSource(env, policy, settings, layout)
    source.begin(learner, seed)
    return _Subject(policy, settings, learner, source.gather(learner, key))


def _indices(minibatch: int, seed: int) -> np.ndarray:
    layout = Layout(16, 128, minibatch, EPOCHS)
    return shuffle_and_chop(layout, numpy_stream(seed, "costs.shuffle"))


def _program_bytes(subject: _Subject, indices: np.ndarray) -> int:
    """Memory of the compiled programs of actor and critic, arguments and results included."""
    policy, settings, learner, gathered = subject
    total = 0
    for part in settings.parts:
        inputs = (trained(learner.params, part), None, learner.optimiser[part], gathered.batch)
        rest = (coefficients_of(settings), jnp.float32(settings.learning_rate), indices)
        program = improve.lower(policy, settings.form, part, *inputs, *rest).compile()
        needs: Any = program.memory_analysis()
        total += needs.temp_size_in_bytes + needs.argument_size_in_bytes
        total += needs.output_size_in_bytes
    return int(total)


def _seconds(
    bench: Bench, env: str, subject: _Subject, indices: dict[str, np.ndarray]
) -> dict[str, np.ndarray]:
    """Seconds of an update, both kinds in turn so that a busy machine slows both."""
    for some in indices.values():  # the first of each compiles
        _one_update(subject, some)
    rounds = bench.pick(*ROUNDS)
    found: dict[str, list[float]] = {name: [] for name in indices}
    for turn in range(rounds):
        for name, some in indices.items():
            began = time.perf_counter()
            _one_update(subject, some)
            found[name].append(time.perf_counter() - began)
        bench.progress(f"timing {env}", turn + 1, rounds)
    return {name: np.array(values) for name, values in found.items()}


def _one_update(subject: _Subject, indices: np.ndarray) -> None:
    policy, settings, learner, gathered = subject
    coefficients, rate = coefficients_of(settings), jnp.float32(settings.learning_rate)
    made = learn(policy, settings, learner, gathered, indices, coefficients, rate)
    jax.block_until_ready(made[0].params)


def _ratios(seconds: dict[str, np.ndarray]) -> Data:
    """Full batch over mini-batches, per update and per gradient step."""
    full, mini = seconds["full batch"], seconds["mini-batch"]
    steps = MINIBATCHES["full batch"] // MINIBATCHES["mini-batch"]
    return {
        "update_ratio": {**typical_ratio(full, mini).as_dict(), "approximate": True},
        "step_ratio": {**typical_ratio(full, mini / steps).as_dict(), "approximate": True},
    }


EXPERIMENTS = (Experiment("costs", "What a full-batch update costs", run),)
