"""Clipping keeps the policy near: KL per update with and without it, from the same weights."""

from dataclasses import replace

from nbyt.measure.shift import policy_divergence, visited
from nbyt.results.values import Data
from nbyt.studies.bench import Bench, Training
from nbyt.studies.numbers import shortened
from nbyt.studies.post.experiments.visits import RUNS, Run, early, training_of
from nbyt.studies.study import Experiment

SEEDS = (3, 5)
CHAINS, POINTS, APART = 64, 8, 25
# No probability ratio leaves 1 as far as this: nothing is ever clipped.
_NEVER = 1e6


def run(bench: Bench) -> Data:
    """KL between the policies before and after some early updates, seed by seed."""
    found = []
    seeds = bench.pick(*SEEDS)
    for run in RUNS[1:]:
        at = bench.pick(*run.at)
        at = tuple(u for u in at if early(u, max(at) + 1))
        rows = []
        for seed in range(seeds):
            clipped, free = training_of(bench, run, seed), _free(bench, run, at, seed)
            rows.append({"with": _one(bench, clipped, at), "without": _one(bench, free, at)})
            bench.progress(f"comparing {run.env}", seed + 1, seeds)
        found.append({"env": run.env, "at": list(at), "clip": run.settings.clip, "seeds": rows})
    return {"envs": found}


def _free(bench: Bench, run: Run, at: tuple[int, ...], seed: int) -> Training:
    """The same run without clipping, up to the last update that is looked at."""
    stages = tuple(sorted({*at, *(u + 1 for u in at)}))
    settings = replace(run.settings, clip=_NEVER)
    return bench.trained(run.env, run.layout, stages=stages, settings=settings, seed=seed)


def _one(bench: Bench, training: Training, at: tuple[int, ...]) -> Data:
    """The KL of each update, its mean, and the training's own account of it."""
    found = []
    for u in at:
        before, after = training.at(u), training.at(u + 1)
        sizes = {"chains": CHAINS, "points": POINTS, "apart": APART}
        states = visited(training.env, before, **sizes, seed=bench.seed + u)
        found.append(float(policy_divergence(before, after, states).mean()))
    own = [row["approximate_kl"] for row in training.rows[: max(at) + 1]]
    fractions = [row["clip_fraction"] for row in training.rows[: max(at) + 1]]
    return {
        "divergence": shortened(found, 6),
        "approximate_kl": shortened(own),
        "clip_fraction": shortened(fractions),
    }


EXPERIMENTS = (Experiment("clipping", "updates with and without clipping", run),)
