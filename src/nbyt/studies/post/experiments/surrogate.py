"""The gradient of a batch: PPO's own loss against the mean contribution, and then on its way."""

from dataclasses import replace
from functools import partial
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

from nbyt.measure.contributions import contribution_gap
from nbyt.measure.drift import Drift, follow_update
from nbyt.minibatch import shuffle_and_chop
from nbyt.objective.ppo import Batch
from nbyt.rng import numpy_stream
from nbyt.stats import mean
from nbyt.studies.bench import Bench
from nbyt.studies.post.experiments.minibatch_tasks import (
    LAYOUT,
    Moment,
    batches_of,
    moments,
    plain,
    without_normalising,
)
from nbyt.studies.study import Data, Experiment
from nbyt.train.ppo import coefficients_of, fresh_optimiser

# Gradient steps between two looks at the whole batch.
EVERY = 8
UPDATES = (7, 24)

_WHOLE = ("ratio", "clip_fraction", "cosine", "length")
_OWN = ("minibatch_ratio", "minibatch_clip_fraction", "minibatch_cosine")


def run(bench: Bench) -> Data:
    """Every stage's equality and drift, over independent batches."""
    return {
        "layout": LAYOUT.as_dict(),
        "batches": bench.pick(*UPDATES),
        "looks": list(range(0, LAYOUT.gradient_steps + 1, EVERY)),
        "cases": [_measured(bench, moment) for moment in moments(bench)],
    }


def _measured(bench: Bench, moment: Moment) -> Data:
    count = bench.pick(*UPDATES)
    # A stage keeps its weights only: one batch more brings the optimiser to where training has it.
    first, *batches = batches_of(bench, moment)[: count + 1]
    fresh = fresh_optimiser(moment.task.settings, moment.stage.params, "actor")
    _, optimiser = _followed(bench, moment, fresh, first, 0)
    drifts = []
    for place, batch in enumerate(batches):
        bench.progress(f"{moment}: updates followed", place, count)
        drifts.append(jax.device_get(_followed(bench, moment, optimiser, batch, 1 + place)[0]))
    return {
        **moment.case,
        "updates": moment.stage.facts["updates"],
        "clip": moment.task.settings.clip,
        "gap": _gaps(moment, batches),
        **{name: _along(drifts, name, 1) for name in _WHOLE},
        **{name: _along(drifts, name, EVERY) for name in _OWN},
    }


def _gaps(moment: Moment, batches: list[Batch]) -> Data:
    """The relative difference of the two gradients at ratio 1, with advantages raw and not."""
    settings, stage = moment.task.settings, moment.stage
    forms = {"normalised": settings.form, "raw": without_normalising(settings).form}
    numbers = coefficients_of(settings)
    gap = partial(contribution_gap, stage.policy, params=stage.params, coefficients=numbers)
    found = {word: [gap(settings=form, batch=b) for b in batches] for word, form in forms.items()}
    return {word: plain(mean(np.array(gaps))) for word, gaps in found.items()}


def _followed(
    bench: Bench, moment: Moment, optimiser: Any, batch: Batch, place: int
) -> tuple[Drift, Any]:
    """One update from the stage on, and where it leaves the optimiser."""
    settings, stage = moment.task.settings, moment.stage
    return follow_update(
        stage.policy,
        settings.form,
        "actor",
        stage.params,
        optimiser,
        batch,
        coefficients_of(settings),
        jnp.float32(settings.learning_rate),
        shuffle_and_chop(LAYOUT, numpy_stream(bench.seed, "surrogate.shuffle", place)),
        every=EVERY,
    )


def _along(drifts: list[Drift], name: str, steps: int) -> list[Data]:
    """A number's mean over batches along the update, of so many gradient steps together.

    The numbers are bounded and often crowd at a bound: Student's t is approximate there.
    """
    rows = np.stack([np.reshape(getattr(drift, name), (-1, steps)).mean(-1) for drift in drifts])
    return [plain(replace(mean(column), approximate=True)) for column in rows.T]


EXPERIMENTS = (Experiment("surrogate", "the gradient within an update", run),)
