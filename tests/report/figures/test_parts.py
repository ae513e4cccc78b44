"""Axes of charts: what the page's code expects of them."""

from nbyt.layout import Layout
from nbyt.report.figures.parts import steps_axis


def test_ticks_go_from_left_to_right_in_any_order_of_layouts() -> None:
    """The page leaves out ticks without room from left to right, so they must come that way."""
    layouts = [Layout(512 // steps, steps) for steps in (64, 8, 512)]
    axis = steps_axis(layouts)
    assert axis["tickvals"] == [8, 64, 512]
    assert axis["ticktext"] == ["8<br>64", "64<br>8", "512<br>1"]
    assert axis["range"][0] < 1 < axis["range"][1]
