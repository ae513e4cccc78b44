"""A row for each check of a claim."""

from msgspec import convert
from tests.report.figures.drawing import chart_of, html_of

from nbyt.report.figures.draw_forest import forest
from nbyt.results.study import Check


def _check(value: float | None, says: str, env: str) -> Check:
    number = {"value": value, "low": value, "high": value, "reason": "not run"}
    case = {"env": env}
    asks = {"asks": "above 0", "between": [0.0, None]}
    facts = {"case": case, "quantity": "slope", "number": number, "says": says, **asks}
    return convert(facts, Check)


def test_checks_are_rows_by_their_answer_and_those_without_a_number_are_named() -> None:
    checks = [_check(1.0, "yes", "A"), _check(-1.0, "no", "B"), _check(None, "open", "C")]
    chart = chart_of(forest(checks))
    rows = {trace["name"]: (trace["x"], trace["y"]) for trace in chart["data"]}
    assert rows == {"yes": ([1.0], [0]), "no": ([-1.0], [1]), "open": ([], [])}
    assert chart["layout"]["yaxis"]["ticktext"] == ["A", "B"]
    assert chart["layout"]["xaxis"]["title"]["text"] == "slope"
    assert "C: not run" in html_of(forest(checks))


def test_where_numbers_are_asked_to_lie_is_a_band_in_each_row() -> None:
    chart = chart_of(forest([_check(1.0, "yes", "A"), _check(2.0, "yes", "B")]))
    bands = chart["layout"]["shapes"]
    assert [band["x0"] for band in bands] == [0.0, 0.0]
    assert all(band["x1"] >= 2.0 for band in bands)
