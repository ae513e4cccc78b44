"""What the note claims, compared with the experiments' data; no claim trains or measures."""

from nbyt_studies.replay.claims import (
    correlation,
    schemes,
    sizes,
    stability,
    training_sizes,
    unseen,
)

ALL = (
    *correlation.CLAIMS,
    *sizes.CLAIMS,
    *training_sizes.CLAIMS,
    *stability.CLAIMS,
    *unseen.CLAIMS,
    *schemes.CLAIMS,
)
"""Every claim, in the order of the page."""
