"""Timed updates as a table."""

from tests.report.tables.printing import printed

from nbyt.report.tables.time import time_table
from nbyt.train.costs import Costs


def test_every_layout_has_its_milliseconds_and_speed() -> None:
    costs = Costs({(512, 4): [0.010, 0.012, 0.011], (2, 1024): [0.5, 0.6, 0.55]})
    text = "\n".join(printed(time_table([costs.measured(split) for split in costs.timed])))
    assert "512x4" in text and "2x1024" in text and "ms/update" in text
    assert "186," in text  # 2,048 samples in 11 ms
