"""Checks and figures of the post's claims, from the experiments' data; `claims.toml` words them."""

from nbyt_studies.post.claims import (
    costs,
    critics,
    delay,
    findings,
    grids,
    layouts,
    minibatches,
    pendulum,
    stability,
    visits,
)
from nbyt_studies.study import read_claims, read_findings

_MODULES = (costs, critics, delay, grids, layouts, minibatches, pendulum, stability, visits)
ALL = read_claims(
    "nbyt_studies.post",
    {id: one for module in _MODULES for id, one in module.EVIDENCE.items()},
)
"""Every claim, in the order of the page."""
FINDINGS = read_findings("nbyt_studies.post", findings.PICTURES)
"""What comes first on the page."""
