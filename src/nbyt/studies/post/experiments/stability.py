"""Noise and stability: directions of successive updates and spread of returns, by layout."""

import numpy as np

from nbyt.collect.evaluate import episode_returns
from nbyt.layout import Layout
from nbyt.measure.probing import probe
from nbyt.measure.shift import actor_step
from nbyt.studies.bench import Bench, Training
from nbyt.studies.numbers import shortened
from nbyt.studies.study import Data, Experiment
from nbyt.train.settings import PPOSettings

ENV = "gymnax:CartPole-v1"
LAYOUTS = ((2, 1024), (16, 128), (128, 16), (1024, 2))
COMMON = (16, 128)
SEEDS = (3, 8)
UPDATES = (12, 30)
CHAINS = (64, 128)
SETTINGS = PPOSettings(learning_rate=1e-3)


def run(bench: Bench) -> Data:
    """Each layout's noise at one common stage, and its runs over seeds."""
    common = _trained(bench, COMMON, 0)
    stage = common.stages[len(common.stages) // 2]
    measured = probe(
        ENV,
        stage,
        batch=COMMON[0] * COMMON[1],
        steps=[steps for _, steps in LAYOUTS],
        chains=bench.pick(*CHAINS),
        seed=bench.seed,
        phase=False,
        progress=bench.progress,
    )
    rows = []
    for envs, steps in LAYOUTS:
        seeds = [_looked_at(bench, (envs, steps), s) for s in range(bench.pick(*SEEDS))]
        noise = measured.layout(steps=steps).actor.noise_factor.as_dict()
        rows.append({"envs": envs, "steps": steps, "noise_factor": noise, "seeds": seeds})
    return {"env": ENV, "stage": stage.facts["updates"], "updates": _updates(bench), "rows": rows}


def _updates(bench: Bench) -> int:
    return bench.pick(*UPDATES)


def _trained(bench: Bench, layout: tuple[int, int], seed: int) -> Training:
    sizes = Layout(*layout, minibatch=256, epochs=4)
    stages = tuple(range(1, _updates(bench) + 1))
    return bench.trained(ENV, sizes, stages=stages, settings=SETTINGS, seed=seed)


def _looked_at(bench: Bench, layout: tuple[int, int], seed: int) -> Data:
    """Cosines of successive steps, and the return of the last policy in whole episodes."""
    training = _trained(bench, layout, seed)
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
