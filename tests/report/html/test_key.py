"""The key of a chart."""

from nbyt.report.html.key import key


def test_an_entry_has_its_colour_symbol_line_and_words() -> None:
    html = key(("blue", "circle", "dash", "a < b"), ("ink", "none", None, "c"))
    first, second = html.split("</li>")[:2]
    assert "var(--blue)" in first and "<circle" in first and "a &lt; b" in first
    assert 'stroke-dasharray="6 3"' in first
    assert "<line" not in second and "<circle" not in second
