"""Laws of run folders: resumed only by the same settings, and never over somebody's files."""

import os
from pathlib import Path

import numpy as np
import pytest
from tests.golden.pinned import FOLDERS
from tests.store import kept

from nbyt.errors import StoreError
from nbyt.results import plain
from nbyt.store.files import CELL, CHECKPOINT, METRICS, RESULT, STAGE, SWEEP
from nbyt.store.run import Folder, load_stage, open_run, verify

IDENTITY = {"env": "CartPole-v1", "seed": 0, "layout": {"envs": 8, "steps": 16}}
ARRAYS = {"w": np.arange(4.0)}


def snapshot(folder: Path) -> dict[str, bytes | None]:
    return {
        str(path.relative_to(folder)): path.read_bytes() if path.is_file() else None
        for path in sorted(folder.rglob("*"))
    }


def full_run(out: Path) -> Folder:
    run = open_run(out, IDENTITY)
    run.write(STAGE, (ARRAYS, kept.stage(0)), 0)
    run.write(STAGE, (ARRAYS, kept.stage(10)), 10)
    run.write(CHECKPOINT, (ARRAYS, kept.checkpoint(5)))
    run.write(METRICS, [{"update": 1, "return": 0.1}])
    run.write(RESULT, kept.RESULT)
    return run


def test_everything_comes_back_after_reopening(tmp_path: Path) -> None:
    full_run(tmp_path / "a" / "b")
    run = open_run(tmp_path / "a" / "b", IDENTITY)
    assert run.read(CHECKPOINT) is None, "a run with a result needs none"
    assert plain(load_stage(run.path_of(STAGE, 10))[1]) == kept.stage(10)
    assert [stage.name for stage in run.present(STAGE)] == ["stage-0", "stage-10"]
    assert run.read(METRICS) == [{"update": 1, "return": 0.1}]
    assert plain(run.read(RESULT)) == kept.RESULT
    assert verify(run.path) == []


def test_the_checkpoint_of_an_unfinished_run_comes_back(tmp_path: Path) -> None:
    full_run(tmp_path / "run").path.joinpath("result.json").unlink()
    tensors, facts = open_run(tmp_path / "run", IDENTITY).read(CHECKPOINT)
    np.testing.assert_array_equal(tensors["w"], ARRAYS["w"])
    assert (facts.updates, facts.rows) == (5, 5)


def test_new_run_has_nothing(tmp_path: Path) -> None:
    run = open_run(tmp_path / "run", IDENTITY)
    assert run.read(CHECKPOINT) is None
    assert run.read(RESULT) is None
    assert run.read(METRICS) is None
    assert run.present(STAGE) == []


def test_cleared_checkpoint_is_gone(tmp_path: Path) -> None:
    run = full_run(tmp_path / "run")
    run.remove(CHECKPOINT)
    assert run.read(CHECKPOINT) is None
    assert not list(run.path.glob("checkpoint*"))
    run.remove(CHECKPOINT)


@pytest.mark.parametrize("force", [False, True])
def test_foreign_folder_is_refused_and_untouched(tmp_path: Path, force: bool) -> None:
    (tmp_path / "thesis.txt").write_text("x")
    (tmp_path / "stage-1").mkdir()
    (tmp_path / ".old.0123456789abcdef.tmp").write_text("x")
    before = snapshot(tmp_path)
    with pytest.raises(StoreError, match="is not an nbyt run") as caught:
        open_run(tmp_path, IDENTITY, force=force)
    assert "--out" in caught.value.fix and "empty folder" in caught.value.fix
    assert snapshot(tmp_path) == before


def test_other_settings_are_named_and_nothing_is_touched(tmp_path: Path) -> None:
    full_run(tmp_path / "run")
    before = snapshot(tmp_path)
    other = {"env": "CartPole-v1", "seed": True, "layout": {"envs": 16}, "lr": 0.1}
    with pytest.raises(StoreError) as caught:
        open_run(tmp_path / "run", other)
    for part in (
        "seed: 0 -> true",
        "layout.envs: 8 -> 16",
        "layout.steps: 16 -> (absent)",
        "lr: (absent) -> 0.1",
    ):
        assert part in caught.value.message
    assert "env:" not in caught.value.message
    assert "--force" in caught.value.fix
    assert snapshot(tmp_path) == before


def test_of_many_other_settings_a_few_are_named(tmp_path: Path) -> None:
    full_run(tmp_path)
    with pytest.raises(StoreError) as error:
        open_run(tmp_path, {**IDENTITY, **{f"key{k}": "x" * 200 for k in range(20)}})
    assert "key0" in str(error.value) and "and 15 more" in str(error.value)
    assert len(error.value.message) - len(str(tmp_path)) < 5 * 80


def test_a_training_with_an_option_that_was_removed_is_named(tmp_path: Path) -> None:
    run = open_run(tmp_path, {**IDENTITY, "adaptive": {"every": 4, "lengths": [1, 2]}})
    facts = {"changes": [{"after_update": 3}], "last_layout": {"envs": 4}}
    run.write(RESULT, {**kept.RESULT, **facts})
    assert plain(run.read(RESULT)) == kept.RESULT
    with pytest.raises(StoreError, match="--layout auto, which was removed") as error:
        open_run(tmp_path, IDENTITY)
    assert "--force" in error.value.fix


TRAINING = {"algo": "ppo", "env": "CartPole-v1", "seed": 0}


@pytest.mark.parametrize(
    ("kind", "identity", "said"),
    [
        ("train", TRAINING, "a training, made by `nbyt train`"),
        ("sweep", {"command": "sweep"}, "a sweep, made by `nbyt sweep`"),
        ("advise", {"command": "advise"}, "an advice, made by `nbyt advise`"),
        ("reproduce", {"study": "post"}, "a study, made by `nbyt reproduce`"),
        ("probe a training", {"command": "probe a training"}, "probes of a training, made by Grad"),
    ],
)
def test_the_folder_of_another_command_is_named_in_one_line(
    tmp_path: Path, kind: str, identity: dict, said: str
) -> None:
    open_run(tmp_path, identity, kind)
    other = "train" if kind != "train" else "sweep"
    wanted = TRAINING if kind != "train" else {"command": "sweep"}
    with pytest.raises(StoreError) as error:
        open_run(tmp_path, {**wanted, "more": {str(k): k for k in range(20)}}, other)
    assert said in error.value.message and "->" not in error.value.message
    assert "--force" in error.value.fix and error.value.where == "--out"


def test_force_clears_what_another_command_left(tmp_path: Path) -> None:
    sweep = open_run(tmp_path, {"command": "sweep"}, "sweep")
    sweep.write(CELL, {"return": 1.0}, "4x16-seed-0")
    sweep.write(SWEEP, {"env": "x"})
    (tmp_path / "notes.txt").write_text("mine")
    open_run(tmp_path, TRAINING, force=True)
    assert {one.name for one in tmp_path.iterdir()} == {"nbyt-run.json", "notes.txt"}


@pytest.mark.parametrize("command", [["sweep"], {}, None, 1, "no such command"])
def test_a_marker_that_names_no_command_of_ours_is_still_compared(tmp_path, command) -> None:
    open_run(tmp_path, {"command": command}, "sweep")
    with pytest.raises(StoreError, match="other settings"):
        open_run(tmp_path, TRAINING)


def test_identity_is_compared_as_json(tmp_path: Path) -> None:
    made = open_run(tmp_path / "run", {"sizes": (1, 2), "table": {1: "a"}})
    assert open_run(tmp_path / "run", {"sizes": [1, 2], "table": {"1": "a"}}) == made


def test_force_clears_our_files_only(tmp_path: Path) -> None:
    run = full_run(tmp_path / "run")
    (run.path / "notes.txt").write_text("theirs")
    (run.path_of(STAGE, 0) / "plot.png").write_text("theirs")
    (tmp_path / "precious").mkdir()
    (tmp_path / "precious" / "stage.json").write_text("theirs")
    (run.path / "stage-3").symlink_to(tmp_path / "precious")
    open_run(run.path, {"env": "Other"}, force=True)
    left = {str(path.relative_to(run.path)) for path in run.path.rglob("*")}
    assert left == {"nbyt-run.json", "notes.txt", "stage-0", "stage-0/plot.png"}
    assert (tmp_path / "precious" / "stage.json").exists()
    open_run(run.path, {"env": "Other"})


def test_force_on_the_same_settings_resumes(tmp_path: Path) -> None:
    full_run(tmp_path / "run").path.joinpath("result.json").unlink()
    before = snapshot(tmp_path)
    open_run(tmp_path / "run", IDENTITY, force=True)
    assert snapshot(tmp_path) == before


def test_leftovers_are_swept_and_do_not_make_a_folder_foreign(tmp_path: Path) -> None:
    (tmp_path / ".nbyt-run.json.0123456789abcdef.tmp").write_text("x")
    run = open_run(tmp_path, IDENTITY)
    assert os.listdir(run.path) == ["nbyt-run.json"]


def test_symlinked_out_is_resolved_first(tmp_path: Path) -> None:
    (tmp_path / "real").mkdir()
    (tmp_path / "link").symlink_to(tmp_path / "real")
    run = open_run(tmp_path / "link", IDENTITY)
    assert run.path == (tmp_path / "real").resolve()
    assert (tmp_path / "link").is_symlink()


def test_places_that_cannot_be_a_run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "file").write_text("x")
    (tmp_path / "loop").symlink_to(tmp_path / "loop")
    for out in ("file", "file/run", "loop", "nul\0", "x" * 300):
        with pytest.raises(StoreError):
            open_run(tmp_path / out, IDENTITY)
    assert (tmp_path / "file").read_text() == "x"
    full_run(tmp_path / "run")
    monkeypatch.setattr(os, "access", lambda *_: False)
    with pytest.raises(StoreError, match="cannot be written: Permission denied"):
        open_run(tmp_path / "run", IDENTITY)


def test_damaged_marker_is_refused_even_with_force(tmp_path: Path) -> None:
    run = full_run(tmp_path / "run")
    (run.path / "nbyt-run.json").write_bytes(b"{}")
    before = snapshot(tmp_path)
    for force in (False, True):
        with pytest.raises(StoreError, match=r"nbyt-run\.json"):
            open_run(run.path, IDENTITY, force=force)
    assert snapshot(tmp_path) == before


def test_damaged_checkpoint_says_how_to_restart(tmp_path: Path) -> None:
    run = full_run(tmp_path / "run")
    file = next(run.path.glob("checkpoint-*.safetensors"))
    file.write_bytes(file.read_bytes()[:-1])
    with pytest.raises(StoreError, match="is damaged") as caught:
        run.read(CHECKPOINT)
    assert "delete checkpoint*" in caught.value.fix and "restarts the run" in caught.value.fix
    for path in run.path.glob("checkpoint*"):
        path.unlink()
    assert run.read(CHECKPOINT) is None


def test_verify_names_every_bad_file(tmp_path: Path) -> None:
    run = full_run(tmp_path / "run")
    run.write(STAGE, (ARRAYS, kept.stage()), 2)
    bad = ["nbyt-run.json", "result.json", "metrics.csv", "checkpoint.json"]
    for name in bad:
        (run.path / name).write_bytes(b'{"a\xff"\n,,,')
    (run.path_of(STAGE, 0) / "stage.safetensors").write_bytes(b"")
    (run.path_of(STAGE, 10) / "stage.json").unlink()
    (run.path / "stage-11").symlink_to(run.path_of(STAGE, 2))
    reasons = verify(run.path)
    for name in [*bad, "stage-0/stage.safetensors", "stage-10/stage.json", "stage-11"]:
        assert sum(f"{run.path / name} " in reason for reason in reasons) == 1
    assert len(reasons) == 7


def test_verify_never_raises(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("x")
    for path in (tmp_path, tmp_path / "none", tmp_path / "file", tmp_path / "nul\0"):
        assert len(verify(path)) == 1


def test_a_training_in_place_of_a_stage_names_its_stages(tmp_path: Path) -> None:
    run = full_run(tmp_path / "run")
    with pytest.raises(StoreError) as error:
        load_stage(run.path)
    assert "a training" in error.value.message and "stage-0, stage-10" in error.value.message
    assert f"`nbyt probe {run.path}/stage-10`" in error.value.fix
    for number in range(20):
        run.write(STAGE, (ARRAYS, kept.stage(number)), number)
    with pytest.raises(StoreError, match="stage-0 to stage-19, 20 of them"):
        load_stage(run.path)


def test_stage_numbers_are_numbers(tmp_path: Path) -> None:
    with pytest.raises(ValueError, match="format code"):
        Folder(tmp_path).path_of(STAGE, "../../x")  # type: ignore[arg-type]


@pytest.mark.parametrize(("name", "held"), [("advise", "an advice"), ("sweep", "a sweep")])
def test_a_run_in_place_of_a_stage_is_named_with_its_stages(name: str, held: str) -> None:
    with pytest.raises(StoreError, match=f"holds {held}") as caught:
        load_stage(FOLDERS / name)
    assert ("training-1x16/stage-" in caught.value.fix) == (name == "advise")
