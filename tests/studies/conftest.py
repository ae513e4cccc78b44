"""Benches in folders of their own, where an experiment can be done in its small size."""

from collections.abc import Callable
from pathlib import Path

import pytest

from nbyt_studies.experiment import Context
from nbyt_studies.study import Study


@pytest.fixture
def make_context(tmp_path: Path) -> Callable[[int], Context]:
    """Benches of the same seed in folders of their own."""
    made: list[Path] = []

    def make(seed: int = 0) -> Context:
        study = Study("test", "A test", "", (), ())
        made.append(tmp_path / f"study-{len(made)}")
        folder = study.open_folder(made[-1], quick=True, seed=seed)
        return Context(folder, seed, True, lambda what, done, total: None)

    return make


@pytest.fixture
def context(make_context: Callable[[int], Context]) -> Context:
    """One of them."""
    return make_context(0)
