"""What is measured for the claims; each module gives its experiments."""

from nbyt.studies.replay.experiments import (
    gradients,
    optimisers,
    schemes,
    stability,
    step_seconds,
    training_sizes,
    unseen_carts,
    unseen_lakes,
)

# The longest first, so that no worker is left with one at the end.
_IN_ORDER = (
    training_sizes,
    stability,
    gradients,
    unseen_lakes,
    unseen_carts,
    schemes,
    optimisers,
    step_seconds,
)

ALL = tuple(experiment for module in _IN_ORDER for experiment in module.EXPERIMENTS)
"""Every experiment, in the order in which they are done."""
