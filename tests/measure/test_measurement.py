"""A measurement as text, and the refusal of layouts that were not measured."""

import pytest

import nbyt
from nbyt.errors import LayoutError
from nbyt.exact import garnet
from nbyt.measure.measurement import Measurement


@pytest.fixture(scope="module")
def measured() -> Measurement:
    control = garnet(3, 2, 1)
    return nbyt.probe(
        control.env,
        control.stage,
        batch=32,
        steps=[2, 8],
        gamma=0.9,
        chains=8,
        chain_steps=16,
        phase=False,
    )


def test_its_text_has_a_line_for_each_layout_best_first(measured: Measurement) -> None:
    title, head, *rows = str(measured).splitlines()
    assert "batch 32" in title and "alignment" in head
    names = [f"{measured.layouts[place].envs} x" for place in measured.rankings["actor"].order]
    assert rows[0].startswith("*")
    assert all(name in row for name, row in zip(names, rows, strict=False))
    assert str(measured.layouts[measured.rankings["actor"].order[0]].actor.alignment) in rows[0]
    assert [line for line in rows if line.startswith("note: 8 chains")]


def test_a_layout_that_was_not_measured_is_refused_with_those_that_were(
    measured: Measurement,
) -> None:
    with pytest.raises(LayoutError, match="was not measured") as caught:
        measured.layout(steps=4)
    assert "16x2, 4x8" in caught.value.fix
