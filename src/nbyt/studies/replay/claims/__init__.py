"""What the note claims, by topic, in the order of the page."""

from nbyt.studies.replay.claims import (
    correlation,
    noise,
    optimisers,
    schemes,
    sizes,
    stability,
    training_sizes,
    unseen,
    variety,
)

_IN_ORDER = (
    correlation,
    variety,
    noise,
    sizes,
    training_sizes,
    optimisers,
    stability,
    unseen,
    schemes,
)

ALL = tuple(claim for module in _IN_ORDER for claim in module.CLAIMS)
"""Every claim, in the order of the page."""
