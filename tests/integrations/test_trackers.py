"""Trackers write what the run saw; read back from their own files."""

import time
from pathlib import Path

import pytest
from tensorboardX.proto import event_pb2

from nbyt.integrations import trackers
from nbyt.integrations.trackers import TensorBoard, WeightsAndBiases

ROWS = [
    {"update": 1, "steps": 32, "episodes": 0, "mean_return": None, "value_loss": 0.5},
    {"update": 2, "steps": 64, "episodes": 3, "mean_return": 21.5, "value_loss": 0.25},
]


def scalars(folder: Path) -> list[tuple[str, int, float]]:
    """Name, step and value of every scalar in the event files of a folder.

    A record is: length (8 bytes), checksum (4), the event, checksum (4).
    """
    found = []
    for file in sorted(folder.glob("events*")):
        data, at = file.read_bytes(), 0
        while at < len(data):
            length = int.from_bytes(data[at : at + 8], "little")
            event = event_pb2.Event.FromString(data[at + 12 : at + 12 + length])
            found += [(v.tag, event.step, v.simple_value) for v in event.summary.value]
            at += 16 + length
    return found


def test_tensorboard_holds_every_number_at_its_step(tmp_path: Path) -> None:
    with TensorBoard(tmp_path) as tracker:
        for row in ROWS:
            tracker.on_update(row)
    assert scalars(tmp_path) == [
        ("episode/episodes", 32, 0.0),
        ("update/value_loss", 32, 0.5),
        ("episode/episodes", 64, 3.0),
        ("episode/mean_return", 64, 21.5),
        ("update/value_loss", 64, 0.25),
    ]


def test_weights_and_biases_offline(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("WANDB_MODE", "offline")
    monkeypatch.setenv("WANDB_DIR", str(tmp_path))
    monkeypatch.setenv("WANDB_SILENT", "true")
    with WeightsAndBiases("nbyt-test", {"envs": 8}) as tracker:
        for row in ROWS:
            tracker.on_update(row)
    logs = list(tmp_path.glob("wandb/offline-run-*/*.wandb"))
    assert len(logs) == 1
    # Its own process writes the file, and may still be at it when finish() has returned.
    deadline = time.monotonic() + 60
    while b"mean_return" not in logs[0].read_bytes() and time.monotonic() < deadline:
        time.sleep(0.1)
    assert b"mean_return" in logs[0].read_bytes()


def test_a_missing_package_says_which_extra(monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(trackers.MissingExtraError, match="nbyt") as error:
        trackers._package("no_such_package")
    assert "nbyt[trackers]" in error.value.fix
