"""PPO updates from a frozen stage on, followed on their way; what they show, over many batches."""

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import jax.numpy as jnp
import numpy as np
from jaxtyping import Int

from nbyt.objective.ppo import Batch
from nbyt.results.values import Data
from nbyt.stats import mean
from nbyt.train.sources import coefficients_of
from nbyt_studies.measure.updates import Drift, follow_update
from nbyt_studies.minibatch_tasks import Moment, plain


def followed(
    moment: Moment,
    optimiser: Any,
    batch: Batch,
    indices: Int[np.ndarray, "gradient_steps minibatch"],
    every: int,
) -> tuple[Drift, Any]:
    """One update of the actor from the stage on, and where it leaves the optimiser."""
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
        indices,
        every=every,
    )


def along_update(drifts: Sequence[Drift], name: str, steps: int = 1) -> list[Data]:
    """A number's mean over batches along the update, of so many of its values together.

    The numbers are bounded and often crowd at a bound: Student's t is approximate there.
    """
    rows = np.stack([np.reshape(getattr(drift, name), (-1, steps)).mean(-1) for drift in drifts])
    return [plain(replace(mean(column), approximate=True)) for column in rows.T]
