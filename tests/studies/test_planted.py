"""Every check can come out either way: planted worlds in which its statement is true, and false."""

import pytest
from tests.studies import worlds

from nbyt_studies.post.study import POST
from nbyt_studies.replay.study import REPLAY
from nbyt_studies.study import Claim

CLAIMS = [
    pytest.param(claim, *planted[claim.id], id=claim.id)
    for study, planted in ((POST, worlds.POST), (REPLAY, worlds.REPLAY))
    for claim in study.claims
]


@pytest.mark.parametrize(("claim", "true", "false"), CLAIMS)
def test_each_check_flips_where_its_statement_is_false(
    claim: Claim, true: worlds.Data, false: worlds.Data
) -> None:
    held, failed = claim.checks(true), claim.checks(false)
    assert held and [one.case for one in held] == [one.case for one in failed]
    assert [one.case for one in held if one.says != "yes"] == []
    assert [one.case for one in failed if one.says != "no"] == []


def test_every_claim_has_its_worlds() -> None:
    for study, planted in ((POST, worlds.POST), (REPLAY, worlds.REPLAY)):
        assert set(planted) == {claim.id for claim in study.claims}


def test_a_check_that_cannot_come_out_otherwise_is_found(monkeypatch: pytest.MonkeyPatch) -> None:
    """Lambda 0, with which no bias depends on T, and a uniform policy on two grounds."""
    claims = {claim.id: claim for claim in POST.claims}
    monkeypatch.setattr(worlds.critics, "LAMBDAS", (0.95, 0.0))
    said = [one.says for one in claims["short-rollouts-bias"].checks(worlds.biases(worlds.HALF))]
    assert set(said) == {"yes", "no"}
    policies = {one.case["policy"] for one in claims["slip-bias"].checks(worlds.delay(1.0, 3.0))}
    assert policies == {"softmax"}
