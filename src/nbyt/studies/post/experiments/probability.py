"""P(tau | pi) on tables: does it sum to 1, and how improbable is what one sees?"""

import jax
import numpy as np
from jaxtyping import Float

from nbyt import exact
from nbyt.collect.device import collect, start
from nbyt.exact.controls import Control
from nbyt.results.values import Data
from nbyt.rng import stream
from nbyt.studies.bench import Bench
from nbyt.studies.numbers import shortened
from nbyt.studies.study import Experiment

LENGTHS = (1, 2, 3, 4)
STEPS = 64


def run(bench: Bench) -> Data:
    """Sums over all trajectories of a few tables, and the probabilities of sampled ones."""
    controls = [exact.sticky(), exact.garnet(4, 2, bench.seed), exact.frozenlake("mid")]
    places = [(control, steps) for control in controls for steps in LENGTHS]
    sums = []
    for number, (control, steps) in enumerate(places):
        sums.append({"env": control.name, "steps": steps, **_summed(control, steps)})
        bench.progress("adding up all trajectories", number + 1, len(places))
    seen = _sampled(controls[-1], bench.seed, bench.pick(200, 1000))
    bench.progress("sampling trajectories", 1, 1)
    return {"sums": sums, "steps": STEPS, "log10": shortened(seen)}


def _summed(control: Control, steps: int) -> dict[str, float | int]:
    """How many trajectories there are, and the sum of their probabilities."""
    some = list(exact.possible_trajectories(control.env, steps))
    parts = [exact.trajectory_probability(control.env, control.stage, *one) for one in some]
    return {"count": sum(map(len, parts)), "sum": float(np.concatenate(parts).sum())}


def _sampled(control: Control, seed: int, count: int) -> Float[np.ndarray, " n"]:
    """log10 P of the first steps of episodes that have not ended by then, or of whole ones."""
    env, stage = control.env, control.stage
    key = stream(jax.random.key(seed), "probability")
    runner = start(env, count, key)
    gather = jax.jit(lambda params, here: collect(env, stage.policy, params, here, key, STEPS + 1))
    rollout = jax.device_get(gather(stage.params, runner)[1])
    ended = np.cumsum(rollout.terminated, axis=0)
    found = []
    for n in range(count):
        # An episode that ended shows its next one's start: the last state is then not at hand.
        made = int((ended[:STEPS, n] == 0).sum())
        path = rollout.observation[: made + 1, n], rollout.action[:made, n]
        found.append(float(exact.trajectory_log_probability(env, stage, *path)) / np.log(10))
    return np.array(found)


EXPERIMENTS = (Experiment("probability", "the probability of a trajectory", run),)
