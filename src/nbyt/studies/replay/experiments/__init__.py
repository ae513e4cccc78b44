"""What is measured for the claims; each module gives its experiments."""

from nbyt.studies.replay.experiments import (
    optimisers,
    stability,
    training_sizes,
    unseen_carts,
    unseen_lakes,
)

_IN_ORDER = (training_sizes, stability, unseen_carts, unseen_lakes, optimisers)

ALL = tuple(experiment for module in _IN_ORDER for experiment in module.EXPERIMENTS)
"""Every experiment, in the order in which they are done."""
