"""Charts of the pages as figures of Plotly."""

from nbyt.plotly_figure import plotly_figure, plotly_script


def test_colours_of_the_page_are_those_of_its_light_style() -> None:
    traces = [{"type": "scatter", "x": [1], "y": [2], "line": {"color": "@blue"}}]
    traces += [{"type": "scatter", "x": [1], "y": [2], "fillcolor": "@card:0.2"}]
    found = plotly_figure({"data": traces, "layout": {"height": 200}})
    assert found.data[0].line.color == "#0072b2"
    assert found.data[1].fillcolor == "rgba(255, 255, 255, 0.2)"
    assert found.layout.height == 200


def test_the_script_can_be_put_into_a_page() -> None:
    assert "</script" not in plotly_script().lower()
