"""A measurement as a file: it comes back whole, and a wrong part of it is named."""

import pytest
from tests.results.reading import comes_back_whole, refused
from tests.store import kept

from nbyt.results.measurement import Look, Measurement


def test_a_measurement_and_a_look_come_back_whole() -> None:
    assert comes_back_whole(kept.measurement(), Measurement)
    assert comes_back_whole(kept.look(), Look)


@pytest.mark.parametrize("key", sorted(kept.measurement()))
def test_a_measurement_with_a_wrong_part_names_it(key: str) -> None:
    facts = kept.measurement()
    facts[key] = object
    refused(facts, Measurement, key)
