"""The page of a study as text: nothing becomes markup, every claim and check is there."""

import base64
import hashlib
import json
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


Data = dict[str, Any]


@pytest.mark.usefixtures("light")
def test_every_claim_is_on_the_page_with_its_verdict(data: Data) -> None:
    html = render_study(data)
    words = words_of(html)
    for claim in data["claims"]:
        for said in (
            claim["claim"],
            claim["word"],
            claim["when"],
            claim["measured"],
            claim["asks"],
        ):
            assert said in words
        assert all(note in words for note in claim["notes"])
    for said in (data["title"], data["lead"], data["rule"], data["reproduce"]):
        assert said in words
    kinds = re.findall(r'<tr data-verdict="([a-z-]+)"', html)
    assert kinds == ["holds", "holds-when", "does-not-hold", *["cannot-be-told"] * 2]
    assert "All 7 checks: 3 yes, 3 no, 1 open" in words and "0.3 (0.2 to 0.8)" in words


@pytest.mark.usefixtures("light")
def test_every_check_is_on_the_page(data: Data) -> None:
    html = render_study(data)
    tables = re.findall(r'<div class="checks">.*?</table>', html, re.DOTALL)
    counts = [one.count("<tr>") - 1 for one in tables]
    assert counts == [len(claim["checks"]) for claim in data["claims"] if claim["checks"]]
    said = re.findall(r'class="says (yes|no|open)"', tables[1])
    assert said == [check["says"] for check in data["claims"][1]["checks"]]
    # The quantity is a column only where it differs.
    assert ">quantity<" in tables[3] and ">quantity<" not in tables[0]


@pytest.mark.usefixtures("light")
def test_a_chart_of_slides_has_a_frame_for_each_place(data: Data) -> None:
    html = render_study(data)
    charts = charts_of(html)
    slid = re.findall(r'id="(chart-[^"]+)"[^>]*data-slider="([^"]+)"', html)
    assert len(slid) == 2
    assert all(len(charts[chart]) == 4 for chart, _ in slid)
    assert {slider for _, slider in slid} == {"slider-claim-short-bias-0"}
    # Titles and tables change with the place; the key does not.
    assert html.count('data-of="slider-claim-short-bias-0"') == 4 * 6
    assert html.count("</svg>N = 128<") == 1


@pytest.mark.usefixtures("light")
def test_a_slider_begins_where_the_study_says(data: Data) -> None:
    slides = [one for claim in data["claims"] for one in claim["figures"] if "frames" in one]
    slides[0]["start"] = 2
    said = re.search(r'id="page-data">(.*?)</script>', render_study(data))
    assert json.loads(said[1])["sliders"]["slider-claim-short-bias-0"]["start"] == 2


@pytest.mark.usefixtures("light")
def test_a_claim_with_few_checks_draws_them(data: Data) -> None:
    claim = next(one for one in data["claims"] if len(one["checks"]) > 2)
    chart = f"chart-claim-{claim['id']}-checks-0"
    (drawn,) = charts_of(render_study(data))[chart]
    known = [one for one in claim["checks"] if one["number"]["value"] is not None]
    assert sum(len(trace["x"]) for trace in drawn["data"]) == len(known)
    assert len(drawn["layout"]["shapes"]) == len(known)
    for trace in drawn["data"]:
        assert len(trace["x"]) == sum(one["says"] == trace["name"] for one in known)
        assert len(trace["error_x"]["array"]) == len(trace["x"])
    claim["checks"] = claim["checks"] * 20
    assert f'id="{chart}"' not in render_study(data)


@pytest.mark.usefixtures("light")
def test_parts_are_shown_apart_and_an_identity_has_no_verdict(data: Data) -> None:
    counts = {"yes": 3, "no": 0, "open": 0}
    holds = {"word": "holds", "when": "", "counts": counts, "range": [0.1, 0.2, 0.3]}
    open_ = {"word": "cannot be told", "when": "not worth it", "counts": counts, "range": None}
    first, second = data["claims"][:2]
    parts = [{"case": {"of": "critic"}, **holds}, {"case": {"of": "actor"}, **open_}]
    first.update(word="depends", parts=parts, contradicts="That it is not.")
    second.update(word="identity", kind="identity", parts=[])
    html = render_study(data)
    words = words_of(html)
    assert "0.2 (0.1 to 0.3)" in words and "not worth it" in words and "That it is not." in words
    assert "critic" in words and "An identity: true by mathematics" in words
    assert re.findall(r'<tr data-verdict="([a-z-]+)"', html)[:2] == ["depends", "identity"]


@pytest.mark.usefixtures("light")
def test_findings_come_first_with_a_picture_and_links(data: Data) -> None:
    bars = next(f for claim in data["claims"] for f in claim["figures"] if f["kind"] == "bars")
    about = {"claims": ["short-bias", "gone"], "figure": bars}
    data["findings"] = [{"title": "Short ones pull", "text": "By a third.", **about}]
    html = render_study(data)
    assert html.index("Short ones pull") < html.index('id="claims-title"')
    assert "chart-finding-0-0" in charts_of(html)
    assert '<a href="#claim-short-bias">short-bias</a>' in html and "#gone" not in html
    data["findings"] *= 5
    assert "Five things you may not expect" in words_of(render_study(data))


@pytest.mark.usefixtures("light")
def test_what_is_undetermined_is_not_drawn_and_says_why(data: Data) -> None:
    html = render_study(data)
    first = charts_of(html)["chart-claim-correlated-steps-0"][0]["data"]
    lines = [trace for trace in first if trace.get("mode") == "lines+markers"]
    assert [line["y"][6] for line in lines] == [None, None]
    assert "actor at 256: the pool fell silent" in words_of(html)
    assert "covariance at Pendulum-v1: the pool fell silent" in words_of(html)
    assert "NaN" not in html
