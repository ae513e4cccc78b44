"""Benches in folders of their own, where an experiment can be done in its small size."""

from collections.abc import Callable
from pathlib import Path

import pytest

from nbyt_studies.bench import Bench
from nbyt_studies.reproducing import open_study
from nbyt_studies.study import Study


@pytest.fixture
def make_bench(tmp_path: Path) -> Callable[[int], Bench]:
    """Benches of the same seed in folders of their own."""
    made: list[Path] = []

    def make(seed: int = 0) -> Bench:
        study = Study("test", "A test", "", (), ())
        made.append(tmp_path / f"study-{len(made)}")
        folder = open_study(study, made[-1], quick=True, seed=seed)
        return Bench(folder, seed, True, lambda what, done, total: None)

    return make


@pytest.fixture
def bench(make_bench: Callable[[int], Bench]) -> Bench:
    """One of them."""
    return make_bench(0)
