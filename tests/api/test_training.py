"""A training that is read back says where its policies are."""

from pathlib import Path

from nbyt.api.training import Training
from nbyt.store.run import Folder

FOLDER = Path(__file__).parents[1] / "golden" / "folders" / "train"


def test_it_is_what_its_folder_says() -> None:
    found = Training.read(Folder(FOLDER))
    assert found.final_return.low <= found.final_return.value <= found.final_return.high
    assert all(stage.is_dir() for stage in found.stages) and found.metrics
    assert str(FOLDER / "stage-1") in str(found)
