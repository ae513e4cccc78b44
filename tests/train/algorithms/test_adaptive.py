"""Layouts that adapt: the batch stays, changes are told, and a resumed run is the unbroken one."""

import csv
import json
from pathlib import Path

import pytest
from tests.train.small_runs import StopAfter, content

from nbyt.cli.main import run as command
from nbyt.errors import LayoutError, RunInterruptedError
from nbyt.store.run import open_run
from nbyt.train.adaptive import AdaptivePlan, LayoutController, first_layout, lengths_of
from nbyt.train.loop import train
from nbyt.train.plan import PPOSettings

BATCH, UPDATES = 64, 10
# Believes every look: it moves as often as it can.
RESTLESS = LayoutController(every=2, fewest=2, window=2, sure=-1e9)
TABLE = PPOSettings(network="table", normalise_rewards=True)


def plan(env: str = "tabular:FrozenLake-v1", most: int = 32) -> AdaptivePlan:
    layout = first_layout(BATCH, 16, 2, most)
    total = UPDATES * BATCH
    return AdaptivePlan(env, layout, total, 3, TABLE, (5, 10), "sync", RESTLESS, most)


class Notes:
    """A listener that keeps what is told."""

    def __init__(self) -> None:
        self.told: list[str] = []

    def on_update(self, row: dict) -> None:
        """Ignore the update."""

    def on_note(self, note: str) -> None:
        self.told.append(note)


@pytest.fixture(scope="module")
def whole(tmp_path_factory):
    folder = tmp_path_factory.mktemp("adaptive") / "whole"
    notes, wanted = Notes(), plan()
    result = train(wanted, open_run(folder, wanted.identity()), (notes,))
    return folder, notes, result


@pytest.mark.learns
def test_the_batch_stays_and_layouts_move_by_powers_of_two(whole):
    folder, notes, result = whole
    rows = list(csv.DictReader((folder / "metrics.csv").open()))
    layouts = [(int(row["envs"]), int(row["rollout_steps"])) for row in rows]
    assert {envs * steps for envs, steps in layouts} == {BATCH}
    looked, free = layouts[1::2], layouts[0::2]
    assert set(looked) == {(8, 8)}
    changes = result.findings["changes"]
    assert len(changes) >= 2 and len(notes.told) == len(changes)
    for one in changes:
        (_, old), (_, new) = one["from"], one["to"]
        assert new in (2 * old, old // 2) and "standard errors" in one["reason"]
        assert any(note.startswith(f"update {one['after_update']}:") for note in notes.told)
    assert layouts[0] == (16, 4) and len(set(free)) > 1
    assert json.loads((folder / "result.json").read_text())["facts"]["changes"] == changes


@pytest.mark.parametrize("stop", [3, 6])
def test_a_resumed_run_is_the_unbroken_one(whole, tmp_path: Path, stop: int):
    wanted = plan()
    folder = open_run(tmp_path / "broken", wanted.identity())
    with pytest.raises(RunInterruptedError):
        train(wanted, folder, (StopAfter(stop),))
    result = train(wanted, folder)
    assert content(tmp_path / "broken") == content(whole[0])
    assert result.findings == whole[2].findings


def test_host_envs_move_too(tmp_path: Path):
    wanted = plan("gym:FrozenLake-v1")
    result = train(wanted, open_run(tmp_path / "host", wanted.identity()))
    sizes = {envs for one in result.findings["changes"] for envs, _ in (one["from"], one["to"])}
    assert sizes == {16, 32}


def test_lengths_are_powers_of_two_within_the_envs_allowed():
    assert lengths_of(2048, 2**62) == (1, 2, 4, 8, 16, 32, 64, 128)
    assert lengths_of(2048, 64) == (32, 64, 128)
    for batch, most in ((32, 100), (2047, 100), (2048, 8)):
        with pytest.raises(LayoutError):
            lengths_of(batch, most)


def test_the_command(tmp_path: Path, capsys):
    words = "train tabular:FrozenLake-v1 --layout auto --batch 64 --minibatch 16 --total 640"
    given = [*words.split(), "--network", "table", "--out", str(tmp_path / "run"), "--json"]
    assert command(given) == 0
    data = json.loads(capsys.readouterr().out)["data"]
    assert (
        data["changes"] == [] and data["last_layout"]["envs"] * data["last_layout"]["steps"] == 64
    )
    assert command(["train", "FrozenLake-v1", "--batch", "64", "--json"]) == 2
