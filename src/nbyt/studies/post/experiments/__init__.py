"""What is trained and measured for the post; each experiment gives plain data."""

from nbyt.studies.post.experiments import (
    clipping,
    controls,
    costs,
    critics,
    delay,
    dynamics,
    grids,
    layouts,
    minibatches,
    pendulum,
    probability,
    sources,
    stability,
    surrogate,
    visits,
)

# The longest first, so that no worker is left with one at the end; those that use another's
# trainings after it.
_IN_ORDER = (
    layouts,
    surrogate,
    critics,
    pendulum,
    minibatches,
    visits,
    sources,
    dynamics,
    grids,
    stability,
    clipping,
    controls,
    delay,
    probability,
    costs,
)

ALL = tuple(experiment for module in _IN_ORDER for experiment in module.EXPERIMENTS)
"""Every experiment, in the order in which they are done."""
