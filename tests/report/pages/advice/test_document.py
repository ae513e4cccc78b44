"""The page as text: nothing from the data becomes markup, and all that is needed is inside."""

import base64
import copy
import hashlib
import re
from typing import Any

import pytest
from tests.report.hostile import PAYLOADS, Elements, charts_of, poisoned, scripts_of, words_of

from nbyt.report.html.page import behaviour
from nbyt.report.pages.advice import card, render, write_page

Data = dict[str, Any]
BYTES = 6_000_000
NOTHING = {"value": None, "low": None, "high": None}
# These choose what is shown, so they are never free text.
_CHOICES = {"objective", "per"}


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
def test_the_answer_is_on_the_page(data: Data) -> None:
    words = words_of(render(data))
    for answer in data["advice"].values():
        for sentence in (*answer["reasons"], *answer["remedies"]):
            assert sentence in words
    for one in data["current"].values():
        assert one["sentence"] in words
    for said in ("A warning about the whole.", data["schedule"]["sentence"], data["reproduce"]):
        assert said in words


@pytest.mark.usefixtures("light")
def test_settings_are_there_letter_by_letter(data: Data) -> None:
    found = re.findall(r'<pre id="paste-\d+"[^>]*><code>(.*?)</code>', render(data), re.DOTALL)
    pasted = [Elements(f"<p>{one}</p>").words for one in found]
    assert ["".join(one) for one in pasted] == [one["paste"] for one in data["settings"]]
    lost = [message for one in data["settings"] for message in one["lost"]]
    assert lost and all(message in words_of(render(data)) for message in lost)


@pytest.mark.usefixtures("light")
def test_nothing_is_called_lost_or_kept_that_is_not(data: Data) -> None:
    one = {**data["settings"][0], "exact": True, "lost": []}
    changed = {**one, "paste": "n_envs=64", "changes": {"n_envs": 64}}
    for own, words in (
        (one, "Nothing is lost: this is the same layout."),
        ({**one, "unsaid": ["clip=0.1"]}, "The same layout. Not said here: clip=0.1."),
        (changed, "Only what changes: all your other settings stay as they are."),
        ({**changed, "paste": "", "changes": {}}, "Nothing changes: this is what you have."),
    ):
        said = words_of(render({**data, "settings": [own]}))
        assert words in said and ("Nothing is lost" in said) == (own is one)


@pytest.mark.usefixtures("light")
def test_a_quick_advice_says_what_it_lacks(quick: Data) -> None:
    html = render(quick)
    words = words_of(html)
    assert "no stage was diagnosed" in words
    assert "there is no answer per second" in words
    assert "The cost of an update was not measured." in words
    assert not {"chart-cost", "chart-sources"} & set(charts_of(html))
    assert "Per second" not in words_of(card(quick))


@pytest.mark.usefixtures("light")
def test_no_measurable_difference_is_said_loudly(data: Data) -> None:
    for answer in data["advice"].values():
        answer["no_measurable_difference"] = True
        answer["to_settle"] = {"sentence": "About 2 times the chains.", "samples": 2}
    html = render(data)
    assert "No measurable difference between the layouts" in words_of(html)
    assert "Per sample: About 2 times the chains." in words_of(html)
    assert 'class="notice loud"' in html and 'class="loud"' in card(data)


@pytest.mark.usefixtures("light")
def test_what_is_undetermined_is_not_drawn_and_says_why(data: Data) -> None:
    layout = data["stages"][0]["layouts"][3]
    for name in layout["actor"]:
        layout["actor"][name] = {**NOTHING, "reason": "the pool fell silent"}
    layout["actor"]["alignment"]["low"] = -1.0
    layout["critic"]["variance"] = {"value": 1.0, "low": None, "high": float("inf")}
    closer = next(stage["closer"] for stage in data["stages"] if stage["closer"])
    closer["layouts"][0]["actor"]["alignment"] = {**NOTHING, "reason": "the map has a hole"}
    html = render(data)
    first = charts_of(html)["chart-factors"][0]["data"]
    lines = [trace for trace in first if trace.get("mode") == "lines+markers"]
    assert len(lines) == 3 and all(trace["y"][3] is None for trace in lines)
    assert f"alignment at T = {layout['steps']}: the pool fell silent" in words_of(html)
    assert 'class="unknown"' in html and 'title="the map has a hole"' in html
    assert "NaN" not in html and "Infinity" not in scripts_of(html)[0][1]


@pytest.mark.usefixtures("light")
def test_endless_intervals_leave_the_bars_visible(data: Data) -> None:
    stage = data["stages"][0]
    values = [one["actor"]["variance"]["value"] for one in stage["layouts"]]
    stage["layouts"][0]["actor"]["variance"]["high"] = 1000 * max(values)
    html = render(data)
    chart = charts_of(html)["chart-terms-actor"][0]
    bars = chart["data"][0]["y"]
    assert chart["layout"]["yaxis"]["range"][1] < 4 * max(bars)
    assert "Intervals of the actor go beyond the top" in words_of(html)


@pytest.mark.parametrize("objective", ["critic", "total"])
@pytest.mark.usefixtures("light")
def test_the_objective_decides_what_is_drawn(data: Data, objective: str) -> None:
    actor = charts_of(render(data))
    html = render({**data, "objective": objective})
    own = charts_of(html)
    assert own["chart-factors"] != actor["chart-factors"]
    assert own["chart-terms-actor"] == actor["chart-terms-actor"]
    assert f"The picture is of the actor; the advice is about the {objective}." in words_of(html)


@pytest.mark.usefixtures("light")
def test_other_shapes_of_data(data: Data) -> None:
    other = copy.deepcopy(data)
    other["stages"] = other["stages"][2:3]
    other["stages"][0]["closer"] |= {"plane": [], "sources": {"reason": "no clones"}}
    other |= {"settings": [], "training": [], "machine": None}
    other["agreement"] = {"agree": False, "sentence": "Two trainings say two things."}
    number = {"value": 0.5, "low": 0.4, "high": 0.6}
    rows = [{"layout": [4, 512], "alignment": number, "best": "yes"}]
    other["budget"] = {"sentence": "A larger budget would not help.", "rows": rows}
    words = words_of(render(other))
    for said in ("no clones", "Two trainings say two things.", "would not help.", "4 × 512"):
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
