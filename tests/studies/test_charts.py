"""Parts of figures that claims share."""

import pytest

from nbyt_studies.charts import column_means, cosine_matrix, known_series, layout_ticks
from nbyt_studies.numbers import mean_of


def test_a_series_leaves_out_what_is_undetermined() -> None:
    numbers = [{"value": 1.0}, {"value": None, "reason": "no spread"}, {"value": 3.0}]
    series = known_series("a", [10, 20, 30], numbers, line=False)
    assert series.x == (10, 30) and [n.value for n in series.numbers] == [1.0, 3.0]
    assert not series.line
    with pytest.raises(ValueError, match="zip"):
        known_series("a", [10], numbers)


def test_columns_are_averaged_over_rows() -> None:
    means = column_means([[1.0, 10.0], [2.0, 20.0], [3.0, 60.0]])
    assert means == [mean_of([1.0, 2.0, 3.0]).as_dict(), mean_of([10.0, 20.0, 60.0]).as_dict()]


def test_a_matrix_of_cosines_has_their_range_and_a_name_for_each_batch() -> None:
    figure = cosine_matrix("t", [[1.0, 0.2], [0.2, 1.0]])
    assert (figure.scale.low, figure.scale.high) == (-1.0, 1.0)
    assert figure.rows == figure.columns == ("0", "1")


def test_ticks_name_layouts() -> None:
    assert layout_ticks([{"envs": 8, "steps": 4}]) == [(4, "8x4")]
