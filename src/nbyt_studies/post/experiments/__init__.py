"""What is trained and measured for the post; each experiment gives plain data."""

from nbyt_studies.post.experiments import (
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

# The longest first, so that no worker is left with one at the end; those that use another's
# trainings after it.
_IN_ORDER = (
    layouts,
    stability,
    critics,
    pendulum,
    minibatches,
    visits,
    critics,
    delay,
    grids,
    stability,
    visits,
    layouts,
    delay,
    costs,
    costs,
)

ALL = tuple(experiment for module in _IN_ORDER for experiment in module.EXPERIMENTS)
"""Every experiment, in the order in which they are done."""
