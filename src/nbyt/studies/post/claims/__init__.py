"""What the post says, held against the experiments' data; nothing here trains or measures."""

from nbyt.studies.post.claims import (
    clipping,
    convergence,
    costs,
    critics,
    delay,
    dynamics,
    grids,
    layouts,
    minibatches,
    pendulum,
    probability,
    stability,
    surrogate,
    variance,
    visits,
)

_IN_ORDER = (
    layouts,
    surrogate,
    variance,
    critics,
    grids,
    pendulum,
    minibatches,
    visits,
    convergence,
    probability,
    dynamics,
    delay,
    stability,
    clipping,
    costs,
)

ALL = tuple(claim for module in _IN_ORDER for claim in module.CLAIMS)
"""Every claim, in the order of the page."""
