"""The answer on the page: its sentences, settings to copy, and a loud tie."""

import re
from typing import Any

import pytest
from tests.report.hostile import Elements, words_of
from tests.report.typed import card, render

Data = dict[str, Any]
NOTHING = {"value": None, "low": None, "high": None}


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
def test_no_measurable_difference_is_said_loudly(data: Data) -> None:
    for answer in data["advice"].values():
        answer["no_measurable_difference"] = True
        answer["to_settle"] = {"sentence": "About 2 times the chains.", "samples": 2}
    html = render(data)
    assert "No measurable difference between the layouts" in words_of(html)
    assert "Per sample: About 2 times the chains." in words_of(html)
    assert 'class="notice loud"' in html and 'class="loud"' in card(data)
