"""What the note claims, by topic, in the order of the page."""

from nbyt.studies.replay.claims import optimisers, stability, training_sizes, unseen

_IN_ORDER = (stability, training_sizes, optimisers, unseen)

ALL = tuple(claim for module in _IN_ORDER for claim in module.CLAIMS)
"""Every claim, in the order of the page."""
