"""The committed copies of the studies: verdicts follow from checks, pages from data."""

import json
import re
import tomllib
from math import inf
from pathlib import Path
from typing import Any

import pytest
from benchmarks.studies.publish import page

from nbyt_studies.post.study import POST
from nbyt_studies.replay.study import REPLAY
from nbyt_studies.study import Study
from nbyt_studies.verdict import RULE, Check, judge_apart, judge_identity, parts_of

CHANGES = Path(__file__).parents[2] / "benchmarks" / "studies" / "changes.toml"
DOCS = Path(__file__).parents[2] / "docs"
STUDIES = pytest.mark.parametrize("study", [POST, REPLAY], ids=lambda study: study.name)


def found(study: Study) -> dict[str, Any]:
    """What `nbyt reproduce` found."""
    return json.loads((DOCS / study.name / "study.json").read_text())


@STUDIES
def test_every_verdict_follows_from_its_checks(study: Study) -> None:
    data = found(study)
    assert data["rule"] == RULE
    for claim in data["claims"]:
        checks = [_check(one) for one in claim["checks"]]
        assert [check.says for check in checks] == [one["says"] for one in claim["checks"]]
        identity = claim["kind"] == "identity"
        parts = parts_of(checks, claim["apart"])
        verdict = judge_identity(checks) if identity else judge_apart(parts)
        assert str(verdict) == claim["verdict"], claim["id"]
        words = [] if identity else [part.verdict.word for part in parts]
        assert [part["word"] for part in claim["parts"]] == words


def _check(one: dict[str, Any]) -> Check:
    low, high = one["between"]
    ends = (-inf if low is None else low, inf if high is None else high)
    return Check(one["case"], one["quantity"], one["number"], *ends)


@STUDIES
def test_it_is_the_study_that_the_command_does(study: Study) -> None:
    data = found(study)
    assert [claim["id"] for claim in data["claims"]] == [claim.id for claim in study.claims]
    assert data["effort"] == "full"


@STUDIES
def test_the_table_of_verdicts_is_made_from_the_data(study: Study) -> None:
    assert (DOCS / f"{study.name}.md").read_text() == page(found(study))


@STUDIES
def test_the_page_is_whole_and_names_no_place(study: Study) -> None:
    data = found(study)
    html = (DOCS / study.name / "report.html").read_text()
    assert all(f'id="claim-{claim["id"]}"' in html for claim in data["claims"])
    for text in (html, json.dumps(data)):
        assert not re.search(r"/(work|home|root|tmp)/", text)


def test_the_readme_says_what_was_found() -> None:
    readme = " ".join((DOCS.parent / "README.md").read_text().split())
    for study in (POST, REPLAY):
        assert f"{len(found(study)['claims'])} statements of it are measured" in readme
    claims = {claim["id"]: claim for claim in found(POST)["claims"]}
    words = {
        (name, *(part["case"][key] for key in claims[name]["apart"] if key in part["case"])): part[
            "word"
        ]
        for name in ("covariance-dominates", "envs-lower-variance", "delay-bias")
        for part in claims[name]["parts"]
    }
    assert words["covariance-dominates", "critic"] == "holds"
    assert words["covariance-dominates", "actor", "normalised"] == "does not hold"
    assert words["envs-lower-variance", "variance", "actor", "raw"] == "holds"
    assert words["envs-lower-variance", "variance", "actor", "normalised"] != "holds"
    assert words["envs-lower-variance", "relative to progress", "actor", "normalised"] != "holds"
    assert words[("delay-bias",)] == "holds"


@STUDIES
def test_every_statement_then_and_now_is_listed(study: Study) -> None:
    changes = tomllib.loads(CHANGES.read_text())[study.name]
    kept = {name for name, change in changes.items() if "gone" not in change}
    assert kept == {claim.id for claim in study.claims}


@STUDIES
def test_every_claim_says_where_it_is_from_and_what_would_contradict_it(study: Study) -> None:
    for claim in study.claims:
        assert claim.topic and claim.asks and claim.contradicts
        assert claim.kind in ("identity", "measurement", "recommendation")


# What the titles of the findings say, which people wrote, beside the verdicts that rules gave.
TITLES = {
    ("post", "covariance-dominates", "critic"): "holds",
    ("post", "covariance-dominates", "actor, normalised"): "does not hold",
    ("post", "envs-lower-variance", "variance, actor, raw"): "holds",
    ("post", "envs-lower-variance", "relative to progress, actor, normalised"): "cannot be told",
    ("post", "short-rollouts-bias", "0.95"): "holds",
    ("post", "delay-bias", ""): "holds",
    ("post", "long-rollouts-credit", "corr² with the true advantage"): "holds when",
    ("replay", "replay-decorrelates", "256"): "holds",
    ("replay", "training-policy", "no replay, the newest"): "holds",
    ("replay", "training-policy", "neighbours in time"): "cannot be told",
    ("replay", "whole-buffer-slower", ""): "holds",
    ("replay", "scheme-noise", "critic"): "holds",
    ("replay", "scheme-noise", "actor"): "cannot be told",
}


@pytest.mark.parametrize(("study", "claim", "part"), TITLES)
def test_findings_are_titled_as_the_verdicts_say(study: str, claim: str, part: str) -> None:
    data = json.loads((DOCS / study / "study.json").read_text())
    assert len(data["findings"]) == 5
    assert any(claim in one["claims"] for one in data["findings"])
    (found,) = (one for one in data["claims"] if one["id"] == claim)
    words = {
        ", ".join(one["case"][key] for key in found["apart"] if key in one["case"]): one["word"]
        for one in found["parts"]
    }
    assert words[part] == TITLES[study, claim, part]


def test_on_unseen_lakes_random_draws_do_worse_than_neighbours() -> None:
    (level,) = (one for one in found(REPLAY)["claims"] if one["id"] == "unseen-level")
    lakes = [
        one["says"]
        for one in level["checks"]
        if "Lakes" in one["case"]["env"] and one["case"]["compared with"] == "sequential"
    ]
    assert lakes == ["no", "no"]
