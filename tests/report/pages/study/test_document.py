"""The page of a study as text: nothing becomes markup, every claim and check is there."""

import base64
import hashlib
import re
from pathlib import Path
from typing import Any

import pytest
from tests.report.hostile import PAYLOADS, Elements, charts_of, poisoned, scripts_of, words_of
from tests.report.typed import render_study, write_study_page

Data = dict[str, Any]
# These choose what is shown, so they are never free text.
_CHOICES = {"kind", "word", "says", "effort"}


def hostile(data: Data, payload: str) -> Data:
    """The data with the payload before every text, and before the names of properties."""
    bad: Data = poisoned(data, payload, _CHOICES)
    bad["versions"] = {payload + key: one for key, one in bad["versions"].items()}
    for claim in bad["claims"]:
        for check in claim["checks"]:
            check["case"] = {payload + key: one for key, one in check["case"].items()}
    return bad


_CLEAN: list[Any] = []


@pytest.mark.parametrize("payload", PAYLOADS, ids=range(len(PAYLOADS)))
@pytest.mark.usefixtures("light")
def test_no_text_becomes_markup(data: Data, payload: str) -> None:
    if not _CLEAN:
        _CLEAN.append(Elements(render_study(data)).found)
    html = render_study(hostile(data, payload))
    assert Elements(html).found == _CLEAN[0]
    html.encode("utf-8")
    assert not re.search("[\x00-\x08\x0b-\x1f\x7f\u202e\u2066\u2028\u2029]", html)


@pytest.mark.usefixtures("light")
def test_the_test_above_would_see_markup(data: Data) -> None:
    html = render_study(data)
    assert Elements(html.replace("CartPole", "<i>")).found != Elements(html).found
    shown = Elements(render_study(hostile(data, "<script>"))).words
    assert sum("<script>" in word for word in shown) > 100


def test_only_our_scripts_may_run(data: Data) -> None:
    html = render_study(data)
    policy = re.search(r'http-equiv="Content-Security-Policy" content="([^"]+)"', html)
    assert policy is not None
    told = policy[1].replace("&#x27;", "'")
    ran = [text for attributes, text in scripts_of(html) if "application/json" not in attributes]
    digests = [base64.b64encode(hashlib.sha256(one.encode()).digest()).decode() for one in ran]
    assert re.findall("'sha256-([^']+)'", told) == digests and len(ran) == 2
    tags = set(Elements(html).found)
    assert not [one for one in tags if one[0] in ("link", "img", "iframe", "object", "embed")]
    assert not [one for one in tags if {"src", "onclick", "onload", "srcset"} & set(one[1:])]


@pytest.mark.usefixtures("light")
def test_links_lead_somewhere(data: Data) -> None:
    data["claims"].append(data["claims"][0])  # an id that comes twice
    html = render_study(data)
    ids = re.findall(r' id="([^"]+)"', html)
    assert len(ids) == len(set(ids))
    assert set(re.findall(r'href="#([^"]+)"', html)) <= set(ids)
    assert set(charts_of(html)) <= set(ids)


@pytest.mark.usefixtures("light")
def test_a_study_without_claims_has_a_page(data: Data) -> None:
    data["claims"] = []
    assert "All 0" in words_of(render_study(data))


def test_a_page_is_written_whole(data: Data, tmp_path: Path) -> None:
    path = tmp_path / "report.html"
    write_study_page(data, path)
    assert path.read_bytes().decode("utf-8") == render_study(data)
    assert [one.name for one in tmp_path.iterdir()] == ["report.html"]
