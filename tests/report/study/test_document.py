"""The page of a study as text: nothing becomes markup, every claim and check is there."""

import base64
import hashlib
import json
import re
from pathlib import Path
from typing import Any

import pytest
from hostile import PAYLOADS, Elements, charts_of, poisoned, scripts_of, words_of

from nbyt.report import figures
from nbyt.report.figures.drawn import look
from nbyt.report.pages.study import render_study, write_study_page

Data = dict[str, Any]
# These choose what is shown, so they are never free text.
_CHOICES = {"kind", "word", "says"}


def hostile(data: Data, payload: str) -> Data:
    """The data with the payload before every text, and before the names of properties."""
    bad: Data = poisoned(data, payload, _CHOICES)
    bad["versions"] = {payload + key: one for key, one in bad["versions"].items()}
    bad["machine"] = {payload + key: one for key, one in bad["machine"].items()}
    for claim in bad["claims"]:
        for check in claim["checks"]:
            check["case"] = {payload + key: one for key, one in check["case"].items()}
    return bad


def claim_of(data: Data, *some: Data) -> Data:
    """The data with one claim, which has these figures."""
    data["claims"] = [{**data["claims"][0], "figures": list(some)}]
    return data


def chart_of(data: Data, figure: Data) -> Data:
    """What Plotly is given for a figure alone."""
    found: Data = charts_of(render_study(claim_of(data, figure)))
    return found["chart-claim-correlated-steps-0"][0]


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
def test_every_claim_is_on_the_page_with_its_verdict(data: Data) -> None:
    html = render_study(data)
    words = words_of(html)
    for claim in data["claims"]:
        for said in (claim["claim"], claim["word"], claim["when"], claim["measured"]):
            assert said in words
        assert all(note in words for note in claim["notes"])
    for said in (data["title"], data["lead"], data["rule"], data["reproduce"]):
        assert said in words
    kinds = re.findall(r'<tr data-verdict="([a-z-]+)"', html)
    assert kinds == ["holds", "holds-when", "does-not-hold", *["cannot-be-told"] * 2]
    assert "3 yes, 3 no, 1 open" in words and "0.2 to 0.8" in words and "2 quantities" in words


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
def test_links_lead_somewhere(data: Data) -> None:
    data["claims"].append(data["claims"][0])  # an id that comes twice
    html = render_study(data)
    ids = re.findall(r' id="([^"]+)"', html)
    assert len(ids) == len(set(ids))
    assert set(re.findall(r'href="#([^"]+)"', html)) <= set(ids)
    assert set(charts_of(html)) <= set(ids)


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
def test_a_claim_without_figures_shows_its_checks(data: Data) -> None:
    claim = next(one for one in data["claims"] if len(one["checks"]) > 2)
    claim["figures"] = []
    (drawn,) = charts_of(render_study(data))[f"chart-claim-{claim['id']}-0"]
    known = [one for one in claim["checks"] if one["number"]["value"] is not None]
    assert sum(len(trace["x"]) for trace in drawn["data"]) == len(known)
    assert len(drawn["layout"]["shapes"]) == len(known)
    for trace in drawn["data"]:
        assert len(trace["x"]) == sum(one["says"] == trace["name"] for one in known)
        assert len(trace["error_x"]["array"]) == len(trace["x"])
    claim["checks"] = claim["checks"] * 20
    assert f'id="chart-claim-{claim["id"]}-0"' not in render_study(data)


@pytest.mark.usefixtures("light")
def test_what_is_undetermined_is_not_drawn_and_says_why(data: Data) -> None:
    html = render_study(data)
    first = charts_of(html)["chart-claim-correlated-steps-0"][0]["data"]
    lines = [trace for trace in first if trace.get("mode") == "lines+markers"]
    assert [line["y"][6] for line in lines] == [None, None]
    assert "actor at 256: the pool fell silent" in words_of(html)
    assert "covariance at Pendulum-v1: the pool fell silent" in words_of(html)
    assert "NaN" not in html


@pytest.mark.usefixtures("light")
def test_an_interval_that_never_ends_leaves_the_values_visible(data: Data) -> None:
    numbers = [{"value": v, "low": v - w, "high": v + w} for v, w in ((1, 900), (2, 0.1), (3, 0.1))]
    some = [figures.series("s", [1, 2, 3], numbers)]
    chart = chart_of(data, figures.lines("", "x", "y", some))
    low, high = chart["layout"]["yaxis"]["range"]
    assert low > -10 and high < 15
    assert "go beyond the edge" in words_of(render_study(data))


@pytest.mark.usefixtures("light")
def test_a_log_axis_shows_what_it_can(data: Data) -> None:
    numbers = [
        {"value": 0.1, "low": -0.1, "high": 0.3},
        {"value": 10.0, "low": 9.0, "high": 11.0},
        {"value": -1.0, "low": -2.0, "high": 0.0},
    ]
    some = [figures.series("s", [1, 10, 100], numbers)]
    figure = figures.lines("", "x", "y", some, log_x=True, log_y=True, marks=[(1.0, "one")])
    chart = chart_of(data, figure)
    band, line = chart["data"]
    assert line["y"] == [0.1, 10.0, None]
    assert all(y is None or y > 0 for y in band["y"])
    assert chart["layout"]["annotations"][0]["y"] == 0
    assert "s at 100: −1.0 [−2.0, 0.0] has no place on a log axis" in words_of(render_study(data))


@pytest.mark.usefixtures("light")
def test_words_of_ticks_are_never_left_out(data: Data) -> None:
    some = [figures.series("s", [1, 2], [{"value": 1.0}, {"value": 2.0}])]
    words = figures.lines("", "x", "y", some, ticks=[(1, "64x32"), (2, "32x64")])
    digits = figures.lines("", "x", "y", some, ticks=[(1, "16"), (2, "32")])
    assert chart_of(data, words)["layout"]["xaxis"]["all"] is True
    assert "all" not in chart_of(data, digits)["layout"]["xaxis"]


@pytest.mark.usefixtures("light")
def test_exact_numbers_have_no_band(data: Data) -> None:
    exact = [{"value": float(x), "low": float(x), "high": float(x)} for x in range(3)]
    bare = [{"value": float(x)} for x in range(3)]
    some = [figures.series("exact", [0, 1, 2], exact), figures.series("bare", [0, 1, 2], bare)]
    chart = chart_of(data, figures.lines("", "x", "y", some))
    assert len(chart["data"]) == 2
    assert chart["data"][0]["hovertext"][2] == "2: exact 2"


@pytest.mark.usefixtures("light")
def test_frames_that_differ_much_say_that_the_axis_changes(data: Data) -> None:
    frames = [
        [figures.points("", "x", "y", [{"name": "p", "x": [0, 1], "y": [0, top]}])]
        for top in (1.0, 2.0)
    ]
    slides = figures.slides("s", "Which", ["a", "b"], frames)
    charts = charts_of(render_study(claim_of(data, slides)))["chart-claim-correlated-steps-0-0"]
    assert charts[0]["layout"]["yaxis"]["range"] == charts[1]["layout"]["yaxis"]["range"]
    frames[1][0]["series"][0]["y"][1] = 100.0
    html = render_study(claim_of(data, figures.slides("s", "Which", ["a", "b"], frames)))
    charts = charts_of(html)["chart-claim-correlated-steps-0-0"]
    assert charts[0]["layout"]["yaxis"]["range"] != charts[1]["layout"]["yaxis"]["range"]
    assert "The vertical axis changes with the slider." in words_of(html)


@pytest.mark.parametrize(
    ("values", "ends", "bounds", "colours"),
    [
        ([[0.0, 2.0]], (None, None), (0, 2), 3),
        ([[-1.0, 2.0]], (None, None), (-2, 2), 5),
        ([[0.5, 0.5]], (-1.0, 1.0), (-1, 1), 5),
        ([[0.5, None]], (0.0, 1.0), (0, 1), 3),
    ],
)
@pytest.mark.usefixtures("light")
def test_colours_follow_the_ends(
    data: Data, values: Any, ends: Any, bounds: Any, colours: int
) -> None:
    figure = figures.heatmap("", values, "scale", low=ends[0], high=ends[1])
    trace = chart_of(data, figure)["data"][0]
    assert (trace["zmin"], trace["zmax"]) == bounds
    assert len(trace["colorscale"]) == colours


@pytest.mark.usefixtures("light")
def test_values_that_are_written_are_a_table(data: Data) -> None:
    figure = figures.heatmap(
        "", [[0.25, None], [-0.5, 1.0]], "s", rows=["a", "b"], columns=["c", "d"], written=True
    )
    html = render_study(claim_of(data, figure))
    assert charts_of(html) == {}
    cells = re.findall(r'<td class="(positive|negative|unknown)"[^>]*>([^<]*)<', html)
    assert cells == [
        ("positive", "0.25"),
        ("unknown", ""),
        ("negative", "−0.50"),
        ("positive", "1.00"),
    ]


def test_eight_series_look_different() -> None:
    looks = [look(place) for place in range(8)]
    assert len({one["colour"] for one in looks}) == 8
    assert len({one["symbol"] for one in looks}) == 8


@pytest.mark.usefixtures("light")
def test_a_study_without_claims_has_a_page(data: Data) -> None:
    data["claims"] = []
    assert "All 0" in words_of(render_study(data))


def test_a_page_is_written_whole(data: Data, tmp_path: Path) -> None:
    path = tmp_path / "report.html"
    write_study_page(data, path)
    assert path.read_bytes().decode("utf-8") == render_study(data)
    assert [one.name for one in tmp_path.iterdir()] == ["report.html"]
