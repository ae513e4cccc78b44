"""The page as text: nothing from the data becomes markup, and all that is needed is inside."""

import base64
import copy
import hashlib
import re
from typing import Any

import pytest
from tests.report.hostile import PAYLOADS, Elements, poisoned, scripts_of, words_of
from tests.report.typed import card, render, write_page

from nbyt.report.html.page import behaviour

Data = dict[str, Any]
BYTES = 6_000_000
NOTHING = {"value": None, "low": None, "high": None}
# These choose what is shown, so they are never free text.
_CHOICES = {"objective", "per", "decided_by", "advantages", "start", "gradients", "weigh", "method"}


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


@pytest.mark.parametrize(
    ("decided_by", "said"),
    [
        ("both", "decided by the weaker of actor and critic,"),
        ("critic", "decided by the critic's gradient,"),
        ("total", "decided by the gradient of actor and critic together,"),
        (None, "decided by the actor's gradient,"),
    ],
)
@pytest.mark.usefixtures("light")
def test_the_subtitle_says_who_decided(data: Data, decided_by: str | None, said: str) -> None:
    known = {} if decided_by is None else {"decided_by": decided_by}  # older advice does not say
    assert said in words_of(render({**data, **known}))


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
    other |= {"settings": [], "training": []}
    said = "Two trainings say two things."
    other["agreement"] = {"agree": False, "best": {"a": [4, 512]}, "sentence": said}
    number = {"value": 0.5, "low": 0.4, "high": 0.6}
    sizes = dict.fromkeys(("batch", "updates", "minibatch", "minibatches", "gradient_steps"), 7)
    row = {**sizes, "envs": 4, "steps": 512, "relative": number, "regret": number, "win_share": 1}
    budget = {"given": "1h", "kind": "seconds", "sentence": "A larger budget would not help."}
    other["budget"] = {**row, **budget, "rows": [row]}
    words = words_of(render(other))
    for said in ("no clones", "Two trainings say two things.", "would not help.", "gradient steps"):
        assert said in words


def test_a_page_is_written_whole(data: Data, tmp_path: Any) -> None:
    path = tmp_path / "report.html"
    write_page(data, path)
    assert path.read_bytes().decode("utf-8") == render(data)
    assert [one.name for one in tmp_path.iterdir()] == ["report.html"]


def test_a_card_has_the_answer_and_no_script(data: Data) -> None:
    html = card(data)
    assert "<script" not in html and len(html) < 30_000
    for answer in data["advice"].values():
        assert answer["sentence"] in words_of(html)
    assert html.count("<tr>") == 2 + sum(len(one["ranking"]) for one in data["advice"].values())
