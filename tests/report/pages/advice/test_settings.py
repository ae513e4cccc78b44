"""Settings to copy: letter by letter, with what is lost."""

import re
from typing import Any

from msgspec import convert
from tests.report.hostile import Elements, words_of

from nbyt.report.pages.advice.settings import settings_section
from nbyt.results import Advice

Data = dict[str, Any]


def section(data: Data) -> str:
    """The section as HTML."""
    return settings_section(convert(data, Advice)).html


def test_settings_are_there_letter_by_letter(data: Data) -> None:
    html = section(data)
    found = re.findall(r'<pre id="paste-\d+"[^>]*><code>(.*?)</code>', html, re.DOTALL)
    pasted = [Elements(f"<p>{one}</p>").words for one in found]
    assert ["".join(one) for one in pasted] == [one["paste"] for one in data["settings"]]
    lost = [message for one in data["settings"] for message in one["lost"]]
    assert lost and all(message in words_of(html) for message in lost)


def test_nothing_is_called_lost_or_kept_that_is_not(data: Data) -> None:
    one = {**data["settings"][0], "exact": True, "lost": []}
    changed = {**one, "paste": "n_envs=64", "changes": {"n_envs": 64}}
    for own, words in (
        (one, "Nothing is lost: this is the same layout."),
        ({**one, "unsaid": ["clip=0.1"]}, "The same layout. Not said here: clip=0.1."),
        (changed, "Only what changes: all your other settings stay as they are."),
        ({**changed, "paste": "", "changes": {}}, "Nothing changes: this is what you have."),
    ):
        said = words_of(section({**data, "settings": [own]}))
        assert words in said and ("Nothing is lost" in said) == (own is one)


def test_the_goal_of_the_layout_is_said(data: Data) -> None:
    assert "advised for the same time," in words_of(section(data))
    assert data["schedule"]["sentence"] in words_of(section(data))
    data["advice"]["samples"] |= {"envs": 64, "steps": 32}
    assert "advised for the same time and for the same samples" in words_of(section(data))


def test_without_settings_there_is_no_section(bare: Data) -> None:
    assert section(bare) == ""
