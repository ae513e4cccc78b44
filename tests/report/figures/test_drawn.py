"""The look of series, colours of values, and remarks below a chart."""

from nbyt.report.figures.drawn import AxisScale, look, remarks


def test_eight_series_look_different() -> None:
    looks = [look(place) for place in range(8)]
    assert len({one["colour"] for one in looks}) == 8
    assert len({one["symbol"] for one in looks}) == 8


def test_depth_of_colour_is_a_share_of_the_scale() -> None:
    one, two = AxisScale("", 2.0, 4.0), AxisScale("", -4.0, 4.0)
    assert [one.depth(x) for x in (2.0, 3.0, 9.0)] == [0.0, 0.5, 1.0]
    assert one.depth(0.5) == 0.0, "below the low end a value is palest"
    assert [two.depth(x) for x in (-4.0, 0.0, 2.0)] == [1.0, 0.0, 0.5]


def test_many_places_without_a_number_are_counted() -> None:
    text = remarks(("s", str(place), "silent") for place in range(13))
    assert text is not None and "s at 13 places from 0 to 12: silent" in text
    assert remarks([]) is None
