"""Checks and figures of the note's claims, from the experiments' data; `claims.toml` words them."""

from nbyt_studies.replay.claims import (
    correlation,
    findings,
    schemes,
    sizes,
    stability,
    training_sizes,
    unseen,
)
from nbyt_studies.study import read_claims, read_findings

_MODULES = (correlation, schemes, sizes, stability, training_sizes, unseen)
ALL = read_claims(
    "nbyt_studies.replay",
    {id: one for module in _MODULES for id, one in module.EVIDENCE.items()},
)
"""Every claim, in the order of the page."""
FINDINGS = read_findings("nbyt_studies.replay", findings.PICTURES)
