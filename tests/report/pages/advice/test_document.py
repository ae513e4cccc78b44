"""The page as text: nothing from the data becomes markup, and all that is needed is inside."""

import base64
import copy
import hashlib
import re
from typing import Any

import pytest
from msgspec import convert
from tests.report import made_up_advice
from tests.report.hostile import (
    PAYLOADS,
    Elements,
    charts_of,
    poisoned,
    scripts_of,
    words_of,
)
from tests.report.typed import card, render, write_page

from nbyt.report.html.page import behaviour
from nbyt.report.pages.advice.document import why_sections
from nbyt.results import Advice

Data = dict[str, Any]
BYTES = 6_000_000
FORMS = [
    made_up_advice.without_stages,
    made_up_advice.without_race,
    made_up_advice.without_time,
    made_up_advice.unlearnt,
]
# These choose what is shown, so they are never free text.
_CHOICES = {"objective", "rests_on", "advantages", "start", "gradients", "method"}


_CLEAN: list[Any] = []


@pytest.fixture
def clean(data: Data, light: None) -> Any:
    """The elements of the page and of the card without a payload; read once."""
    if not _CLEAN:
        _CLEAN.append((Elements(render(data)).found, Elements(card(data)).found))
    return _CLEAN[0]


@pytest.mark.parametrize("payload", PAYLOADS, ids=range(len(PAYLOADS)))
@pytest.mark.usefixtures("light")
def test_no_text_becomes_markup(data: Data, clean: Any, payload: str) -> None:
    bad = poisoned(data, payload, _CHOICES)
    bad["versions"] = {payload + key: one for key, one in bad["versions"].items()}
    html = render(bad)
    assert (Elements(html).found, Elements(card(bad)).found) == clean
    html.encode("utf-8")
    assert not re.search("[\x00-\x08\x0b-\x1f\x7f\u202e\u2066\u2028\u2029]", html)


@pytest.mark.usefixtures("light")
def test_the_test_above_would_see_markup(data: Data) -> None:
    html = render(data)
    assert Elements(html.replace("gymnax", "<i>")).found != Elements(html).found
    shown = Elements(render(poisoned(data, "<script>", _CHOICES))).words
    assert sum("<script>" in word for word in shown) > 100


@pytest.mark.usefixtures("light")
def test_sections_are_in_order(data: Data, bare: Data) -> None:
    html = render(data)
    names = ("answer", "curves", "losses", "why", "tradeoff", "cost", "settings", "rests")
    places = [html.index(f'<section id="{name}"') for name in names]
    assert places == sorted(places)
    assert "compared for the same time" in words_of(html)
    assert not {"chart-factors", "chart-cost"} & set(charts_of(render(bare)))


@pytest.mark.usefixtures("light")
@pytest.mark.parametrize("form", FORMS)
def test_every_form_of_an_advice_has_a_page_and_a_card(data: Data, form: Any) -> None:
    html = render(form(data))
    assert "None" not in words_of(html) and "nan" not in words_of(html)
    assert 'id="chart-losses"' in html and "<details>" in card(form(data))


def test_the_page_holds_all_it_needs_and_stays_small(data: Data) -> None:
    html = render(data)
    assert len(html.encode()) < BYTES
    tags = set(Elements(html).found)
    assert not [one for one in tags if one[0] in ("link", "img", "iframe", "object", "embed")]
    assert not [one for one in tags if {"src", "onclick", "onload", "srcset"} & set(one[1:])]


def test_only_our_scripts_may_run(data: Data) -> None:
    html = render(data)
    policy = re.search(r'http-equiv="Content-Security-Policy" content="([^"]+)"', html)
    assert policy is not None
    told = policy[1].replace("&#x27;", "'")
    ran = [text for attributes, text in scripts_of(html) if "application/json" not in attributes]
    digests = [base64.b64encode(hashlib.sha256(one.encode()).digest()).decode() for one in ran]
    assert len(ran) == 2
    assert re.findall("'sha256-([^']+)'", told) == digests
    assert told.startswith("default-src 'none'; script-src 'sha256-")
    assert "unsafe-eval" not in told and told.count("unsafe-inline") == 1


def test_our_script_makes_no_html_from_text() -> None:
    script = behaviour()
    for word in ("innerHTML", "outerHTML", "insertAdjacentHTML", "document.write", "eval(", "http"):
        assert word not in script


@pytest.mark.usefixtures("light")
def test_every_word_that_is_used_is_explained(data: Data) -> None:
    html = render(data)
    used = set(re.findall(r'href="#(term-[a-z_]+)"', html))
    assert used <= set(re.findall(r'<div id="(term-[a-z_]+)"', html))
    linked = set(re.findall(r'<a href="#([a-z]+)"', html))
    assert linked <= set(re.findall(r' id="([a-z]+)"', html))


@pytest.mark.usefixtures("light")
def test_other_shapes_of_data(data: Data) -> None:
    other = copy.deepcopy(data)
    other["stages"] = other["stages"][2:3]
    other["stages"][0]["closer"] |= {"plane": [], "sources": {"reason": "no clones"}}
    other["layouts"] = other["layouts"][4:5]
    other |= {"settings": [], "safe_range": []}
    words = words_of(render(other))
    assert "no clones" in words and "T below 32 or above 32" in words


def test_a_page_is_written_whole(data: Data, tmp_path: Any) -> None:
    path = tmp_path / "report.html"
    write_page(data, path)
    assert path.read_bytes().decode("utf-8") == render(data)
    assert [one.name for one in tmp_path.iterdir()] == ["report.html"]


def test_a_card_has_the_answer_and_no_script(data: Data) -> None:
    html = card(data)
    assert "<script" not in html and len(html) < 30_000
    for one in (*data["advice"].values(), data["current"]):
        assert one["sentence"] in words_of(html)
    assert html.count("<tr>") == 1 + len(data["layouts"])
    assert "On 12 tasks it had not seen" in words_of(html)


def test_a_card_warns_of_a_race_that_taught_nothing(data: Data, unlearnt: Data) -> None:
    assert 'class="loud"' in card(unlearnt) and 'class="loud"' not in card(data)


Data = dict[str, Any]


def test_every_reason_is_said_once(data: Data) -> None:
    words = words_of(why_sections(convert(data, Advice)).html)
    for answer in data["advice"].values():
        for reason in answer["reasons"]:
            assert words.count(reason) == 1


def test_stages_are_shown_where_there_are_some(data: Data) -> None:
    with_stages = why_sections(convert(data, Advice))
    assert "chart-factors" in with_stages.charts and "tradeoff" in with_stages.links
    without = why_sections(convert(made_up_advice.without_stages(data), Advice))
    assert not without.charts and "No policy was probed" in words_of(without.html)


def test_no_reasons_are_no_error(data: Data) -> None:
    for answer in data["advice"].values():
        answer["reasons"] = []
    assert "No reasons were found." in words_of(why_sections(convert(data, Advice)).html)


def test_the_race_is_named_only_where_it_decides(data: Data) -> None:
    assert "The race decides" in words_of(why_sections(convert(data, Advice)).html)
    data["advice"]["time"]["rests_on"] = "prior"
    assert "The race decides" not in words_of(why_sections(convert(data, Advice)).html)
