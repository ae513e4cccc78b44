"""Elements of HTML: text is escaped unless it is markup."""

from nbyt.report.html.element import Markup, bullets, embedded, escaped_lines, for_chart, tag


def test_text_is_escaped_unless_it_is_markup() -> None:
    assert tag("p", "<b>", Markup("<i></i>"), title='"') == (
        '<p title="&quot;">&lt;b&gt;<i></i></p>'
    )
    assert escaped_lines("a<\r\n\x1b[31mb\n") == "a&lt;\nb\n"
    assert for_chart('<a href="x">') == '&lt;a href="x"&gt;'
    assert embedded({"a": ["</script>", float("nan"), 1 / 3]}) == (
        '{"a":["\\u003c/script\\u003e",null,0.333333]}'
    )


def test_attributes_are_left_out_or_stand_alone() -> None:
    assert tag("input", hidden=True, disabled=False, id=None, min=0) == '<input hidden min="0">'


def test_a_list_of_nothing_is_none() -> None:
    assert bullets([]) is None and bullets(["a"]) == "<ul><li>a</li></ul>"
