"""The page of a probed training as text: nothing becomes markup, every number has its place."""

import re
from typing import Any

import pytest
from tests.report.hostile import PAYLOADS, Elements, charts_of, poisoned, words_of
from tests.report.pages.probes.probes_sample import BATCH, head, training
from tests.report.typed import render_probes

Data = dict[str, Any]
pytestmark = pytest.mark.usefixtures("light")
# The page looks these up in the settings; any other name is free text.
_LOOKED_UP = {"clip", "lambda"}
_CLEAN: list[Any] = []


def hostile(data: Data, payload: str) -> Data:
    """The data with the payload before every text, and before the names of facts."""
    bad: Data = poisoned(data, payload, {"advantages"})
    for key in ("settings", "versions"):
        bad[key] = {
            name if name in _LOOKED_UP else payload + name: one for name, one in bad[key].items()
        }
    return bad


@pytest.mark.parametrize("payload", PAYLOADS, ids=range(len(PAYLOADS)))
def test_no_text_becomes_markup(payload: str) -> None:
    data = training(3)
    if not _CLEAN:
        _CLEAN.append(Elements(render_probes(data)).found)
    html = render_probes(hostile(data, payload))
    assert Elements(html).found == _CLEAN[0]
    html.encode("utf-8")
    assert not re.search("[\x00-\x08\x0b-\x1f\x7f\u202e\u2066\u2028\u2029]", html)


def test_the_test_above_would_see_markup(data: Data) -> None:
    html = render_probes(data)
    assert Elements(html.replace("CartPole", "<i>")).found != Elements(html).found
    shown = Elements(render_probes(hostile(data, "<script>"))).words
    assert sum("<script>" in word for word in shown) > 15


def test_nothing_measured_yet_is_said() -> None:
    html = render_probes({**head(), "records": []})
    words = words_of(html)
    assert "Nothing was measured yet. A probe is made every 10 updates." in words
    assert charts_of(html) == {} and "Stable-Baselines3 2.9.2" in words


def test_a_loop_that_says_little_has_a_page(data: Data) -> None:
    data = {key: data[key] for key in ("title", "library", "machine", "versions", "records")}
    for record in data["records"]:
        del record["gradients"]["actor"], record["gradients"]["critic"]
    words = words_of(render_probes(data))
    assert "None" not in words
    assert "Parts of the variance, total" in words
    # The size of the batch is that of its units together.
    assert f"batch of {BATCH:,} samples" in words


def test_settings_units_and_warnings_are_listed(data: Data) -> None:
    data["settings"] |= {"normalise": True, "network": "64, 64"}
    words = words_of(render_probes(data))
    for said in ("0.0003", "64, 64", "16 pieces of env streams, 128 steps each", "9,155"):
        assert said in words
    assert "Episodes are longer than the pieces of streams. (at update 30)" in words


def test_links_lead_somewhere(data: Data) -> None:
    html = render_probes(data)
    ids = re.findall(r' id="([^"]+)"', html)
    assert len(ids) == len(set(ids))
    assert set(re.findall(r'href="#([^"]+)"', html)) <= set(ids)
    assert set(charts_of(html)) <= set(ids)
