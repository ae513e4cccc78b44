"""What is measured for the claims; each module gives its experiments."""

from nbyt_studies.replay.experiments import gradients, schemes, stability, training_sizes, unseen

# The longest first, so that no worker is left with one at the end.
_IN_ORDER = (
    training_sizes,
    stability,
    gradients,
    unseen,
    unseen,
    schemes,
    training_sizes,
    gradients,
)

ALL = tuple(experiment for module in _IN_ORDER for experiment in module.EXPERIMENTS)
"""Every experiment, in the order in which they are done."""
