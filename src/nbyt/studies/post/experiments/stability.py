"""Noise and stability: directions of successive updates and spread of returns, by layout."""

import numpy as np

from nbyt.collect.evaluate import episode_returns
from nbyt.layout import Layout
from nbyt.measure.probing import probe
from nbyt.measure.shift import actor_step
from nbyt.policy.stage import Stage
from nbyt.results.values import Data
from nbyt.studies.bench import Bench, Training
from nbyt.studies.numbers import shortened
from nbyt.studies.study import Experiment
from nbyt.train.settings import PPOSettings

ENV = "gymnax:CartPole-v1"
LAYOUTS = ((2, 1024), (16, 128), (128, 16), (1024, 2))
# The same T, so the same bias; only the noise differs, and falls as 1/N.
CROWDS = ((32, 128), (8, 128), (2, 128))
COMMON = (16, 128)
SEEDS = (3, 8)
UPDATES = (12, 30)
CHAINS = (64, 128)
# Where in the common run the noise is measured: the order of the layouts may change on the way.
SHARES = (0.25, 0.5, 0.75)
SETTINGS = PPOSettings(learning_rate=1e-3)


def run(bench: Bench) -> Data:
    """Each layout's noise at common stages, and its runs over seeds; and runs of more envs."""
    common = _trained(bench, COMMON, 0)
    at = [round(share * len(common.stages)) for share in SHARES]
    noise = [_noise(bench, common.at(update)) for update in at]
    rows = [
        {**_row(bench, layout, 256), "noise_factors": [one[layout[1]] for one in noise]}
        for layout in LAYOUTS
    ]
    # The whole batch at once: as many gradient steps, however many samples.
    crowds = [_row(bench, layout, layout[0] * layout[1]) for layout in CROWDS]
    return {
        "env": ENV,
        "stages": at,
        "updates": _updates(bench),
        "rows": rows,
        "crowds": crowds,
    }


def _row(bench: Bench, layout: tuple[int, int], minibatch: int) -> Data:
    seeds = [_looked_at(bench, layout, minibatch, s) for s in range(bench.pick(*SEEDS))]
    return {"envs": layout[0], "steps": layout[1], "seeds": seeds}


def _noise(bench: Bench, stage: Stage) -> dict[int, Data]:
    """The noise factor of every layout at one stage, by its T."""
    steps = [steps for _, steps in LAYOUTS]
    measured = probe(
        ENV,
        stage,
        batch=COMMON[0] * COMMON[1],
        steps=steps,
        chains=bench.pick(*CHAINS),
        seed=bench.seed,
        phase=False,
        progress=bench.saying(f"noise after update {stage.facts['updates']}"),
    )
    return {one: measured.layout(steps=one).actor.noise_factor.as_dict() for one in steps}


def _updates(bench: Bench) -> int:
    return bench.pick(*UPDATES)


def _trained(bench: Bench, layout: tuple[int, int], seed: int, minibatch: int = 256) -> Training:
    sizes = Layout(*layout, minibatch=minibatch, epochs=4)
    stages = tuple(range(1, _updates(bench) + 1))
    return bench.trained(ENV, sizes, stages=stages, settings=SETTINGS, seed=seed)


def _looked_at(bench: Bench, layout: tuple[int, int], minibatch: int, seed: int) -> Data:
    """Cosines of successive steps, and the return of the last policy in whole episodes."""
    training = _trained(bench, layout, seed, minibatch)
    steps = [
        actor_step(before, after)
        for before, after in zip(training.stages, training.stages[1:], strict=False)
    ]
    unit = np.stack([step / np.linalg.norm(step) for step in steps])
    cosines = (unit[:-1] * unit[1:]).sum(axis=1)
    last = training.stages[-1]
    returns = episode_returns(training.env, last.policy, last.params, bench.seed + seed).returns
    bench.progress(f"looking at {layout[0]} x {layout[1]}", seed + 1, bench.pick(*SEEDS))
    return {
        "cosine": float(cosines.mean()),
        "cosines": shortened(cosines),
        "final_return": float(returns.mean()),
    }


EXPERIMENTS = (Experiment("stability", "directions of successive updates", run),)
