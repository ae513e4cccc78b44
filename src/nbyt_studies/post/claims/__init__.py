"""What the post says, compared with the experiments' data; no claim trains or measures."""

from nbyt_studies.post.claims import (
    costs,
    critics,
    delay,
    grids,
    layouts,
    minibatches,
    pendulum,
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
    delay,
    stability,
    costs,
)

ALL = tuple(claim for module in _IN_ORDER for claim in module.CLAIMS)
"""Every claim, in the order of the page."""
