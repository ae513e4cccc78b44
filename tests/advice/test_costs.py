"""Where costs come from: timed, a profile, or a file; and what they make of a budget."""

from pathlib import Path

import numpy as np
import pytest

from nbyt.advice.costs import cost_source, known_costs, same_samples
from nbyt.errors import StoreError, UsageError
from nbyt.store.files import COSTS
from nbyt.training.costs import Costs

STEPS = (2, 8, 32, 128)


def test_parallel_hardware_takes_a_step_for_every_step_and_c_more() -> None:
    found = known_costs(cost_source("parallel:4"), STEPS, 2048)
    assert [found.of(steps) for steps in STEPS] == [6, 12, 36, 132]
    assert found.unit == pytest.approx(36) and found.kind == "parallel"
    assert known_costs(cost_source("parallel"), STEPS, 2048).of(8) == 24


def test_the_same_samples_cost_the_same() -> None:
    assert same_samples(STEPS).unit == 1 and same_samples((64, 512)).unit == 1


def test_seconds_decide_which_costs_of_the_proving_ground_these_are_like() -> None:
    flat = Costs({(1024, 2): [0.010, 0.011], (16, 128): [0.012, 0.011]})
    steep = Costs({(1024, 2): [0.010, 0.011], (16, 128): [0.100, 0.110]})
    source = cost_source("measured")
    assert known_costs(source, STEPS, 2048, flat).kind == "measured"
    assert known_costs(source, STEPS, 2048, steep).kind == "parallel"


def test_costs_are_read_from_a_file_and_only_for_their_batch(tmp_path: Path) -> None:
    path = tmp_path / "costs.json"
    timed = Costs({(1024, 2): [0.010, 0.012], (16, 128): [0.100, 0.110]})
    COSTS.write(path, timed.record)
    found = known_costs(cost_source(str(path)), STEPS, 2048)
    assert found.of(128) == pytest.approx(np.sqrt(0.1 * 0.11), rel=0.05)
    assert "costs.json" in found.in_words
    with pytest.raises(UsageError, match="batch of 2048, not of 512"):
        known_costs(cost_source(str(path)), STEPS, 512)


def test_a_file_that_holds_no_costs_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "costs.json"
    path.write_text("{}")
    with pytest.raises(StoreError):
        cost_source(str(path))
