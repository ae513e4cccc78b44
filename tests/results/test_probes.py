"""Probes of a training as files: they come back whole, and a missing part is named."""

import pytest
from tests.report.pages.probes.probes_sample import head, training
from tests.results.reading import comes_back_whole, refused

from nbyt.results.probes import ProbeLog, ProbeRecord


def test_a_log_and_its_records_come_back_whole() -> None:
    assert comes_back_whole(head(), ProbeLog)
    assert all(comes_back_whole(record, ProbeRecord) for record in training(2)["records"])


@pytest.mark.parametrize("key", ["update", "samples"])
def test_a_record_that_does_not_say_when_it_was_made_is_refused(key: str) -> None:
    (record, *_) = training(1)["records"]
    del record[key]
    refused(record, ProbeRecord, f"{key} is missing")
