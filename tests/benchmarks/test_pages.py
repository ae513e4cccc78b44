"""Law: a page of measured numbers is what its report writes from the numbers that are kept."""

import json
from pathlib import Path

import pytest
from benchmarks.calibration import report as calibration
from benchmarks.callback.section import section
from benchmarks.isas import report as isas
from benchmarks.proving import report as proving
from benchmarks.replicate import report as replicate
from benchmarks.rules import report as rules
from benchmarks.soak import report as soak
from benchmarks.sweep import scale_report as scale
from benchmarks.throughput import report as speed


@pytest.mark.parametrize(
    ("report", "page"),
    [
        (speed, speed.PAGE),
        (calibration, calibration.DOCS / "calibration.md"),
        (isas, isas.PAGE),
        (proving, proving.PAGE),
        (replicate, replicate.PAGE),
        (rules, rules.PAGE),
        (soak, soak.PAGE),
        (scale, scale.PAGE),
    ],
)
def test_the_page_is_that_of_the_numbers(report, page: Path) -> None:
    assert page.read_text() == report.page(json.loads(report.RESULT.read_text()))


def test_a_training_that_the_probe_changed_would_be_said() -> None:
    task = {"env": "e", "envs": 1, "steps": 2, "probe_seconds": [0.1, 0.3], "target": 1.05}
    task |= {"seconds": {"with": [1.0], "without": [1.0]}, "probe": {"value": 0.2}}
    task |= {"ratio": {"value": 1.06, "low": None, "high": None}, "reached": False}
    found = {"quick": False, "every": 10, "turn": 2, "rounds": 1}
    found["machine"] = {"cpu": "c", "cores": 2, "load_before": 0.1}
    good, bad = ({**found, "tasks": [{**task, "same_weights": same}]} for same in (True, False))
    assert "bit for bit" in section(good)
    assert "Only in 0 of 1 tasks" in section(bad)
    assert "| e | 1x2 | 1.060 | 1.0 / 1.0 | 0.20 s, longest 0.30 s | ≤ 1.05: NO |" in section(bad)
