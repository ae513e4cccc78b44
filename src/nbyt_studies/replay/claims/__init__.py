"""What the note claims, compared with the experiments' data; no claim trains or measures."""

from nbyt_studies.replay.claims import (
    correlation,
    schemes,
    sizes,
    stability,
    training_sizes,
    unseen,
)

_IN_ORDER = (correlation, sizes, training_sizes, stability, unseen, schemes)

ALL = tuple(claim for module in _IN_ORDER for claim in module.CLAIMS)
"""Every claim, in the order of the page."""
