"""A bench in a folder of its own, small; and the path of helpers."""

import pytest

from nbyt.studies.bench import Bench
from nbyt.studies.reproducing import open_study
from nbyt.studies.study import Study


@pytest.fixture
def make_bench(tmp_path):
    """Benches of the same seed in folders of their own."""
    made = []

    def make(seed: int = 0) -> Bench:
        study = Study("test", "A test", "", (), ())
        made.append(tmp_path / f"study-{len(made)}")
        folder = open_study(study, made[-1], quick=True, seed=seed)
        return Bench(folder, seed, True, lambda what, done, total: None)

    return make
