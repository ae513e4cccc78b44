"""The committed copy of the study: its verdicts follow from its checks, its page from its data."""

import json
import re
from math import inf
from pathlib import Path
from typing import Any

import pytest
from benchmarks.studies.publish import page

from nbyt.studies.post.study import POST
from nbyt.studies.verdict import RULE, Check, judge

DOCS = Path(__file__).parents[3] / "docs"


@pytest.fixture(scope="module")
def data() -> dict[str, Any]:
    """What `nbyt reproduce post` found."""
    return json.loads((DOCS / "post" / "study.json").read_text())


def test_every_verdict_follows_from_its_checks(data: dict[str, Any]) -> None:
    assert data["rule"] == RULE
    for claim in data["claims"]:
        checks = [_check(one) for one in claim["checks"]]
        assert [check.says for check in checks] == [one["says"] for one in claim["checks"]]
        assert str(judge(checks)) == claim["verdict"], claim["id"]


def _check(one: dict[str, Any]) -> Check:
    low, high = one["between"]
    ends = (-inf if low is None else low, inf if high is None else high)
    return Check(one["case"], one["quantity"], one["number"], *ends)


def test_it_is_the_study_that_the_command_does(data: dict[str, Any]) -> None:
    assert [claim["id"] for claim in data["claims"]] == [claim.id for claim in POST.claims]
    assert data["effort"] == "full"


def test_the_table_of_verdicts_is_made_from_the_data(data: dict[str, Any]) -> None:
    assert (DOCS / "post.md").read_text() == page(data)


def test_the_readme_says_what_was_found(data: dict[str, Any]) -> None:
    readme = " ".join((DOCS.parent / "README.md").read_text().split())
    assert f"{len(data['claims'])} statements of it are measured" in readme
    found = {claim["id"]: claim["verdict"] for claim in data["claims"]}
    assert found["long-rollouts-credit"] == "does not hold"
    dominates = found["covariance-dominates"]
    assert dominates.startswith("holds when gradient is: critic (") and "actor (" in dominates
    assert found["envs-lower-variance"].startswith("holds when advantages is: raw (")


def test_the_page_is_whole_and_names_no_place(data: dict[str, Any]) -> None:
    html = (DOCS / "post" / "report.html").read_text()
    assert all(f'id="claim-{claim["id"]}"' in html for claim in data["claims"])
    for text in (html, json.dumps(data)):
        assert not re.search(r"/(work|home|root|tmp)/", text)
