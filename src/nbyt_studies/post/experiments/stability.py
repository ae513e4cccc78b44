"""The gradient within an update, and noise and stability by layout."""

from dataclasses import replace
from functools import partial

import jax
import numpy as np

from nbyt.collect.evaluate import episode_returns
from nbyt.layout import Layout
from nbyt.measure.probe import probe
from nbyt.minibatch import shuffle_and_chop
from nbyt.policy.actor_critic import Stage
from nbyt.results.values import Data
from nbyt.rng import numpy_stream
from nbyt.stats import mean
from nbyt.training.losses import Batch
from nbyt.training.plan import PPOSettings
from nbyt.training.sources import coefficients_of
from nbyt_studies.experiment import Context, Experiment, Training
from nbyt_studies.measure.updates import (
    actor_step,
    along_update,
    contribution_gap,
    followed,
    optimiser_after,
)
from nbyt_studies.minibatch_tasks import (
    LAYOUT,
    Moment,
    batches_of,
    moments,
    plain,
)
from nbyt_studies.numbers import shortened

# Gradient steps between two snapshots of the whole batch.
EVERY = 8
SURROGATE_UPDATES = (7, 24)

_WHOLE = ("ratio", "clip_fraction", "cosine", "length")
_OWN = ("minibatch_ratio", "minibatch_clip_fraction", "minibatch_cosine")


def run_surrogate(context: Context) -> Data:
    """Measure equality and drift at every stage, over independent batches."""
    return {
        "layout": LAYOUT.as_dict(),
        "batches": context.pick(*SURROGATE_UPDATES),
        "looks": list(range(0, LAYOUT.gradient_steps + 1, EVERY)),
        "cases": [_measured(context, moment) for moment in moments(context)],
    }


def _measured(context: Context, moment: Moment) -> Data:
    count = context.pick(*SURROGATE_UPDATES)
    first, *batches = batches_of(context, moment)[: count + 1]
    optimiser = optimiser_after(moment, first, _shuffle(context, 0), EVERY)
    drifts = []
    for place, batch in enumerate(batches):
        context.progress(f"{moment}: updates followed", place, count)
        indices = _shuffle(context, 1 + place)
        drifts.append(jax.device_get(followed(moment, optimiser, batch, indices, EVERY)[0]))
    return {
        **moment.case,
        "updates": moment.stage.facts["updates"],
        "clip": moment.task.settings.clip,
        "gap": _gaps(moment, batches),
        **{name: along_update(drifts, name) for name in _WHOLE},
        **{name: along_update(drifts, name, EVERY) for name in _OWN},
    }


def _gaps(moment: Moment, batches: list[Batch]) -> Data:
    settings, stage = moment.task.settings, moment.stage
    forms = {"normalised": settings.form, "raw": replace(settings, normalise_advantages="off").form}
    numbers = coefficients_of(settings)
    gap = partial(contribution_gap, stage.policy, params=stage.params, coefficients=numbers)
    gaps_by_form = {
        word: [gap(settings=form, batch=b) for b in batches] for word, form in forms.items()
    }
    return {word: plain(mean(np.array(gaps))) for word, gaps in gaps_by_form.items()}


def _shuffle(context: Context, place: int) -> np.ndarray:
    return shuffle_and_chop(LAYOUT, numpy_stream(context.seed, "surrogate.shuffle", place))


ENV = "gymnax:CartPole-v1"
LAYOUTS = ((2, 1024), (16, 128), (128, 16), (1024, 2))
# The same T, so the same bias; only the noise differs, and falls as 1/N.
MORE_ENVS = ((32, 128), (8, 128), (2, 128))
COMMON = (16, 128)
SEEDS = (3, 8)
UPDATES = (12, 30)
CHAINS = (64, 128)
# Where in the common run the noise is measured: the order of the layouts may change on the way.
SHARES = (0.25, 0.5, 0.75)
SETTINGS = PPOSettings(learning_rate=1e-3)


def run(context: Context) -> Data:
    """Measure each layout's noise at common stages, and its runs over seeds; and runs of more
    envs.
    """
    common = _trained(context, COMMON, 0)
    at = [round(share * len(common.stages)) for share in SHARES]
    noise = [_noise(context, common.at(update)) for update in at]
    rows = [
        {**_row(context, layout, 256), "noise_factors": [one[layout[1]] for one in noise]}
        for layout in LAYOUTS
    ]
    # The whole batch at once: as many gradient steps, however many samples.
    more_envs = [_row(context, layout, layout[0] * layout[1]) for layout in MORE_ENVS]
    return {
        "env": ENV,
        "stages": at,
        "updates": context.pick(*UPDATES),
        "rows": rows,
        "crowds": more_envs,
    }


def _row(context: Context, layout: tuple[int, int], minibatch: int) -> Data:
    seeds = [_run_data(context, layout, minibatch, s) for s in range(context.pick(*SEEDS))]
    return {"envs": layout[0], "steps": layout[1], "seeds": seeds}


def _noise(context: Context, stage: Stage) -> dict[int, Data]:
    steps = [steps for _, steps in LAYOUTS]
    measured = probe(
        ENV,
        stage,
        batch=COMMON[0] * COMMON[1],
        steps=steps,
        chains=context.pick(*CHAINS),
        seed=context.seed,
        phase=False,
        progress=context.saying(f"noise after update {stage.facts['updates']}"),
    )
    return {one: measured.layout(steps=one).actor.noise_factor.as_dict() for one in steps}


def _trained(
    context: Context, layout: tuple[int, int], seed: int, minibatch: int = 256
) -> Training:
    sizes = Layout(*layout, minibatch=minibatch, epochs=4)
    stages = tuple(range(1, context.pick(*UPDATES) + 1))
    return context.trained(ENV, sizes, stages=stages, settings=SETTINGS, seed=seed)


def _run_data(context: Context, layout: tuple[int, int], minibatch: int, seed: int) -> Data:
    training = _trained(context, layout, seed, minibatch)
    steps = [
        actor_step(before, after)
        for before, after in zip(training.stages, training.stages[1:], strict=False)
    ]
    unit = np.stack([step / np.linalg.norm(step) for step in steps])
    cosines = (unit[:-1] * unit[1:]).sum(axis=1)
    last = training.stages[-1]
    returns = episode_returns(training.env, last.policy, last.params, context.seed + seed).returns
    context.progress(f"looking at {layout[0]} x {layout[1]}", seed + 1, context.pick(*SEEDS))
    return {
        "cosine": float(cosines.mean()),
        "cosines": shortened(cosines),
        "final_return": float(returns.mean()),
    }


EXPERIMENTS = (
    Experiment("surrogate", "the gradient within an update", run_surrogate),
    Experiment("stability", "directions of successive updates", run),
)
