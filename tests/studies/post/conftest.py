"""A bench in a folder of its own."""

from pathlib import Path

import pytest

from nbyt.studies.bench import Bench
from nbyt.studies.reproducing import open_study
from nbyt.studies.study import Study


@pytest.fixture
def bench(tmp_path: Path) -> Bench:
    """Where an experiment can be done in its small size."""
    study = Study("post", "", "", (), ())
    folder = open_study(study, tmp_path / "study", quick=True, seed=0)
    return Bench(folder, 0, True, lambda what, done, total: None)
