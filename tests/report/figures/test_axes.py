"""How far axes go, and their ticks."""

import pytest
from tests.report.typed import number

from nbyt.report.figures.axes import Reach, log_ticks, reach, shared, y_axis


def test_intervals_do_not_crush_the_values() -> None:
    close = [number(1.0, 0.9, 1.1), number(2.0, 1.9, 2.1)]
    whole = reach(close)
    assert (whole.low, whole.high, whole.cut) == (0.9, 2.1, False)
    wide = reach([*close, number(1.5, -900.0, 900.0)])
    assert wide.cut and wide.high - wide.low < 10


def test_nothing_to_draw_still_has_an_axis() -> None:
    assert reach([]).range == pytest.approx([-0.06, 1.06])
    flat = reach([number(2.0)])
    assert flat.low < 2.0 < flat.high


def test_a_log_axis_is_in_powers_of_ten() -> None:
    found = reach([number(1.0), number(1000.0), number(-1.0)], log=True)
    assert (found.low, found.high) == (0.0, 3.0)
    assert [at for at, _ in log_ticks(found)] == [1.0, 10.0, 100.0, 1000.0]
    assert y_axis("y", found)["type"] == "log"


def test_frames_share_an_axis_if_they_are_alike() -> None:
    assert shared([Reach(0, 1), Reach(0, 4)]) == [Reach(0, 4)] * 2
    assert shared([Reach(0, 1), Reach(0, 40)]) == [Reach(0, 1), Reach(0, 40)]
