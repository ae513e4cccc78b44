"""Timed updates in a terminal of 80 columns."""

import pytest
from tests.report.tables.printing import printed, uncut

from nbyt.report.tables.time import time_table
from nbyt.training.costs import Costs


@pytest.mark.parametrize("seconds", [1e-6, 0.0123, 4567.8])
def test_every_layout_is_there_whatever_its_updates_take(seconds: float) -> None:
    rounds = [seconds * (1 + 0.01 * k) for k in range(5)]
    costs = Costs({(2048, 1): rounds, (1, 2048): [3 * one for one in rounds]})
    table = time_table([costs.measured(split) for split in costs.timed])
    uncut(table, 2)
    fast, slow = printed(table)[-2:]
    assert fast.split()[0] == "2048x1" and slow.split()[0] == "1x2048"
    each = [float(line.split()[-1].replace(",", "")) for line in (fast, slow)]
    assert each[0] == pytest.approx(2048 / (1.02 * seconds), rel=0.01, abs=0.6)
    assert each[1] == pytest.approx(each[0] / 3, abs=0.6)
