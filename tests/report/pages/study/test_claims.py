"""The table of claims, and each claim with its checks and figures."""

import json
import re
from typing import Any

import pytest
from tests.report.hostile import charts_of, words_of
from tests.report.typed import render_study

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
