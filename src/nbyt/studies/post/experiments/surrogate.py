"""The gradient of a batch: PPO's own loss against the mean contribution, and then on its way."""

from functools import partial

import jax
import numpy as np

from nbyt.measure.contributions import contribution_gap
from nbyt.minibatch import shuffle_and_chop
from nbyt.objective.ppo import Batch
from nbyt.results.values import Data
from nbyt.rng import numpy_stream
from nbyt.stats import mean
from nbyt.studies.along_update import along_update, followed
from nbyt.studies.bench import Bench
from nbyt.studies.minibatch_tasks import (
    LAYOUT,
    Moment,
    batches_of,
    moments,
    plain,
    without_normalising,
)
from nbyt.studies.study import Experiment
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
    _, optimiser = followed(moment, fresh, first, _shuffle(bench, 0), EVERY)
    drifts = []
    for place, batch in enumerate(batches):
        bench.progress(f"{moment}: updates followed", place, count)
        indices = _shuffle(bench, 1 + place)
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
    """The relative difference of the two gradients at ratio 1, with advantages raw and not."""
    settings, stage = moment.task.settings, moment.stage
    forms = {"normalised": settings.form, "raw": without_normalising(settings).form}
    numbers = coefficients_of(settings)
    gap = partial(contribution_gap, stage.policy, params=stage.params, coefficients=numbers)
    found = {word: [gap(settings=form, batch=b) for b in batches] for word, form in forms.items()}
    return {word: plain(mean(np.array(gaps))) for word, gaps in found.items()}


def _shuffle(bench: Bench, place: int) -> np.ndarray:
    return shuffle_and_chop(LAYOUT, numpy_stream(bench.seed, "surrogate.shuffle", place))


EXPERIMENTS = (Experiment("surrogate", "the gradient within an update", run),)
