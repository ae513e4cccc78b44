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


def test_the_readme_counts_the_statements() -> None:
    readme = " ".join((DOCS.parent / "README.md").read_text().split())
    assert f"measures {len(found(POST)['claims'])} statements of a post" in readme
    assert f"{len(found(REPLAY)['claims'])} of a note on replay" in readme


def _words_of_parts(claim: dict[str, Any]) -> dict[str, str]:
    """Return the word on each part of a claim, by the part's properties in the claim's order."""
    return {
        ", ".join(part["case"][key] for key in claim["apart"] if key in part["case"]): part["word"]
        for part in claim["parts"]
    }


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
    (judged,) = (one for one in data["claims"] if one["id"] == claim)
    assert _words_of_parts(judged)[part] == TITLES[study, claim, part]


def _said(study: Study, claim: str, *values: str) -> list[str]:
    """Return what a claim's checks say whose cases have all of these values."""
    (judged,) = (one for one in found(study)["claims"] if one["id"] == claim)
    return [one["says"] for one in judged["checks"] if {*values} <= {*one["case"].values()}]


def test_findings_say_of_replay_what_its_checks_say() -> None:
    for lakes in ("Lakes, 200 maps", "Lakes, 2,000 maps"):
        assert _said(REPLAY, "unseen-level", "sequential", lakes) == ["no"]
    for env in ("CartPole-v1", "Breakout-MinAtar"):
        late = _said(REPLAY, "replay-decorrelates", "late", env)
        assert len(late) == 2 and "yes" not in late
    assert _said(REPLAY, "training-policy", "neighbours in time") == ["open"] * 3


@STUDIES
def test_findings_count_checks_that_there_are(study: Study) -> None:
    for one in found(study)["findings"]:
        assert not re.search(r"\d of 0(?![.\d])", one["text"]), one["title"]
