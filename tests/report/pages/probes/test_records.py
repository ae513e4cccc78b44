"""What was not measured is said, not drawn."""

from typing import Any

import pytest
from tests.report.hostile import charts_of, words_of
from tests.report.pages.probes.probes_sample import SILENT, training
from tests.report.typed import render_probes

Data = dict[str, Any]
pytestmark = pytest.mark.usefixtures("light")


def test_what_was_not_looked_at_is_said_and_not_drawn() -> None:
    html = render_probes(training(3, pools=False, minibatches=False))
    words = words_of(html)
    assert "The training did not show its mini-batches" in words
    assert "No pool of long chains was collected" in words
    assert {name.split("-")[1] for name in charts_of(html)} == {"now", "variance", "worth"}


def test_what_is_undetermined_everywhere_is_a_sentence(data: Data) -> None:
    for record in data["records"]:
        for gradient in record["gradients"].values():
            gradient.update(dict.fromkeys(gradient, SILENT))
        record["mean_return"] = None
        for one in record["minibatches"]:
            one["cosine"] = None
    html = render_probes(data)
    words = words_of(html)
    names = set(charts_of(html))
    assert not {name for name in names if name.split("-")[1] in ("now", "variance", "worth")}
    for said in ("Noise scale", "Worth of a sample", "Parts of the variance, critic"):
        assert f"{said}, not drawn: the signal is lost in noise." in words
    assert "What the samples of a batch are worth cannot be told: the signal is lost" in words
    # The other charts of mini-batches are there, in the slider too.
    assert "chart-epochs-0-0" in names and "chart-course-0-1-0" in names
