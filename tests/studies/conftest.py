"""Benches in folders of their own, where an experiment can be done in its small size."""

from collections.abc import Callable

import pytest

from nbyt_studies.experiment import Context
from nbyt_studies.study import Study


@pytest.fixture(scope="module")
def make_context(tmp_path_factory: pytest.TempPathFactory) -> Callable[[int], Context]:
    """Benches of the same seed in folders of their own."""

    def make(seed: int = 0) -> Context:
        study = Study("test", "A test", "", (), ())
        place = tmp_path_factory.mktemp("benches") / "study"
        folder = study.open_folder(place, quick=True, seed=seed)
        return Context(folder, seed, True, lambda what, done, total: None)

    return make


@pytest.fixture
def context(make_context: Callable[[int], Context]) -> Context:
    """One of them."""
    return make_context(0)
