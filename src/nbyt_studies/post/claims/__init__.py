"""What the post says, compared with the experiments' data; no claim trains or measures."""

from nbyt_studies.post.claims import (
    costs,
    critics,
    delay,
    grids,
    layouts,
    minibatches,
    pendulum,
    stability,
    visits,
)
from nbyt_studies.study import by_topic

ALL = by_topic(
    (
        "The same samples, split differently",
        "The gradient of a batch",
        "Where the variance comes from",
        "Bias, and credit",
        "Batch against batch",
        "Mini-batches",
        "The data move",
        "The smaller statements",
    ),
    layouts.CLAIMS,
    critics.CLAIMS,
    grids.CLAIMS,
    pendulum.CLAIMS,
    minibatches.CLAIMS,
    visits.CLAIMS,
    delay.CLAIMS,
    stability.CLAIMS,
    costs.CLAIMS,
)
"""Every claim, in the order of the page."""
