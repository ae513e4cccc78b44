"""Descriptions for people: a notebook gets escaped HTML."""

from nbyt.dialects import load
from nbyt.dialects.explaining import explained


def test_a_notebook_shows_a_table_with_escaped_text() -> None:
    found = explained(load("sb3"), [("n_steps", 100), ("<script>", 1)], lenient=True)
    html = found._repr_html_()
    assert html.startswith("<table>") and "short_tail" in html
    assert "&lt;script&gt;" in html and "<script>" not in html
    assert repr(found) == "Explanation(sb3: 1 env x 100 steps = 100 samples, traps: 1)"
