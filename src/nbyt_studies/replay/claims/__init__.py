"""What the note claims, by topic, in the order of the page."""

from nbyt_studies.replay.claims import (
    correlation,
    schemes,
    sizes,
    stability,
    training_sizes,
    unseen,
)

_IN_ORDER = (
    correlation,
    correlation,
    sizes,
    sizes,
    training_sizes,
    training_sizes,
    stability,
    unseen,
    schemes,
)

ALL = tuple(claim for module in _IN_ORDER for claim in module.CLAIMS)
"""Every claim, in the order of the page."""
