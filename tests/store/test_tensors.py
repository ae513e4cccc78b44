"""Laws of arrays on disk: they come back exactly, or a StoreError says why not."""

import json
import os
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp
from tests.store import kept

from nbyt import __version__
from nbyt.errors import DiskError, StoreError
from nbyt.results import plain
from nbyt.store import formats, tensors
from nbyt.store.run import load_stage

DTYPES = [
    *("bool", "float16", "float32", "float64", "int8", "int16", "int32", "int64"),
    *("uint8", "uint16", "uint32", "uint64"),
]
ARRAYS = st.sampled_from(DTYPES).flatmap(
    lambda dtype: hnp.arrays(dtype, hnp.array_shapes(min_dims=0, min_side=0, max_side=3))
)
SMALL = {"w": np.arange(3, dtype=np.float32), "step": np.array(7)}


def same(left: dict[str, np.ndarray], right: dict[str, np.ndarray]) -> bool:
    return left.keys() == right.keys() and all(
        left[name].shape == right[name].shape
        and left[name].dtype == right[name].dtype
        and left[name].tobytes() == right[name].tobytes()
        for name in left
    )


@settings(
    deadline=None,
    max_examples=40,
    derandomize=True,
    suppress_health_check=[HealthCheck.function_scoped_fixture],
)
@given(content=st.dictionaries(st.text("abc/._", min_size=1), ARRAYS, max_size=4))
def test_round_trip_is_exact(tmp_path: Path, content: dict[str, np.ndarray]) -> None:
    facts = {"step": 3, "nested": {"x": [1.5, None, "é"]}}
    tensors.write_bundle(tmp_path, "checkpoint", content, facts, kind="checkpoint")
    found, found_facts = tensors.read_bundle(tmp_path, "checkpoint", kind="checkpoint")
    assert same(found, content)
    assert found_facts == facts
    assert len(list(tmp_path.iterdir())) == 2


@pytest.mark.parametrize(
    "array",
    [
        np.arange(6).reshape(2, 3).T,
        np.arange(10.0)[::3],
        np.broadcast_to(np.float32(2), (3, 2)),
        np.asfortranarray(np.arange(6.0).reshape(2, 3)),
    ],
)
def test_arrays_that_do_not_lie_in_a_row_come_back(tmp_path: Path, array: np.ndarray) -> None:
    tensors.write_folder(tmp_path / "s", "stage", {"x": array}, kept.stage(), kind="stage")
    np.testing.assert_array_equal(load_stage(tmp_path / "s")[0]["x"], array)


def test_big_endian_keeps_its_values(tmp_path: Path) -> None:
    array = np.array([1.5, -2.0], dtype=">f8")
    tensors.write_folder(tmp_path / "s", "stage", {"x": array}, kept.stage(), kind="stage")
    np.testing.assert_array_equal(load_stage(tmp_path / "s")[0]["x"], array)


def test_same_content_gives_the_same_bytes() -> None:
    assert tensors.dump(SMALL, "") == tensors.dump(dict(reversed(SMALL.items())), "")


@pytest.mark.parametrize("bad", [np.array([1j]), np.array([None]), np.array(["text"])])
def test_dtypes_that_cannot_come_back_are_refused(tmp_path: Path, bad: np.ndarray) -> None:
    with pytest.raises(StoreError, match="tensor 'x'"):
        tensors.write_folder(tmp_path / "s", "stage", {"x": bad}, {}, kind="stage")
    assert not list(tmp_path.iterdir())


def test_stage_is_found_by_folder_or_by_either_file(tmp_path: Path) -> None:
    folder = tmp_path / "stage-1"
    tensors.write_folder(folder, "stage", SMALL, kept.stage(1), kind="stage")
    assert {entry.name for entry in folder.iterdir()} == {"stage.json", "stage.safetensors"}
    for path in (folder, folder / "stage.json", folder / "stage.safetensors"):
        assert same(load_stage(path)[0], SMALL)
    for path in (tmp_path, tmp_path / "none", Path("/dev/zero"), tmp_path / "nul\0"):
        with pytest.raises(StoreError):
            load_stage(path)


def corrupted(data: bytes) -> list[bytes]:
    """Every single-bit flip, and every byte as a space or a newline, which JSON might not mind."""
    changed = []
    for index, byte in enumerate(data):
        for new in {*(byte ^ (1 << bit) for bit in range(8)), 0x20, 0x0A} - {byte}:
            changed.append(data[:index] + bytes([new]) + data[index + 1 :])
    return changed


def truncated(data: bytes) -> list[bytes]:
    return [data[:length] for length in range(len(data))] + [data + b"\0", data + b"\n", data * 2]


@pytest.mark.parametrize("damage", [corrupted, truncated])
@pytest.mark.parametrize("name", ["stage.json", "stage.safetensors"])
def test_every_damage_is_found(
    tmp_path: Path, name: str, damage: Callable[[bytes], list[bytes]]
) -> None:
    folder = tmp_path / "stage-1"
    tensors.write_folder(folder, "stage", SMALL, {"env": "CartPole-v1"}, kind="stage")
    path = folder / name
    for data in damage(path.read_bytes()):
        path.write_bytes(data)
        with pytest.raises(StoreError) as caught:
            load_stage(folder)
        assert str(path) in caught.value.message and caught.value.fix


def test_damage_names_both_hashes(tmp_path: Path) -> None:
    folder = tmp_path / "stage-1"
    tensors.write_folder(folder, "stage", SMALL, {}, kind="stage")
    path = folder / "stage.safetensors"
    good, bad = path.read_bytes(), path.read_bytes()[:-1] + b"\xff"
    path.write_bytes(bad)
    with pytest.raises(StoreError) as caught:
        load_stage(folder)
    for part in (str(path), formats.sha256(good), formats.sha256(bad)):
        assert part in caught.value.message


def test_newer_format_says_who_wrote_it(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with monkeypatch.context() as patch:
        patch.setattr(formats, "FORMAT", 7)
        patch.setattr(formats, "VERSION", "9.8.7")
        tensors.write_folder(tmp_path / "s", "stage", SMALL, {}, kind="stage")
    with pytest.raises(StoreError, match=r"format 7, written by nbyt '9\.8\.7'") as caught:
        load_stage(tmp_path / "s")
    assert __version__ in caught.value.message and "pip install -U" in caught.value.fix


def test_other_kind_is_refused(tmp_path: Path) -> None:
    tensors.write_folder(tmp_path / "s", "stage", SMALL, {}, kind="checkpoint")
    with pytest.raises(StoreError, match="'checkpoint' file, not a stage"):
        load_stage(tmp_path / "s")


def test_facts_that_could_not_be_read_back_are_not_written(tmp_path: Path) -> None:
    tensors.write_bundle(tmp_path, "checkpoint", SMALL, {"a": 1}, kind="checkpoint")
    before = {entry.name: entry.read_bytes() for entry in tmp_path.iterdir()}
    for facts in ({"a": "x" * formats.JSON_LIMIT}, {"a": float("nan")}):
        with pytest.raises(StoreError):
            tensors.write_bundle(tmp_path, "checkpoint", {}, facts, kind="checkpoint")
        with pytest.raises(StoreError):
            tensors.write_bundle(tmp_path, "checkpoint", SMALL, facts, kind="checkpoint")
    assert {entry.name: entry.read_bytes() for entry in tmp_path.iterdir()} == before


def test_writing_a_stage_again(tmp_path: Path) -> None:
    folder = tmp_path / "stage-1"
    tensors.write_folder(folder, "stage", SMALL, kept.stage(1), kind="stage")
    inode = folder.stat().st_ino
    tensors.write_folder(folder, "stage", SMALL, kept.stage(1), kind="stage")
    assert folder.stat().st_ino == inode, "the same bytes are not written twice"
    tensors.write_folder(folder, "stage", SMALL, kept.stage(2), kind="stage")
    assert plain(load_stage(folder)[1]) == kept.stage(2)
    assert [entry.name for entry in tmp_path.iterdir()] == ["stage-1"]


def test_a_stage_never_replaces_what_is_not_ours(tmp_path: Path) -> None:
    (tmp_path / "real").mkdir()
    (tmp_path / "link").symlink_to(tmp_path / "real")
    (tmp_path / "file").write_text("x")
    (tmp_path / "mixed").mkdir()
    (tmp_path / "mixed" / "notes.txt").write_text("x")
    before = sorted(tmp_path.rglob("*"))
    for name in ("link", "file", "mixed"):
        with pytest.raises(StoreError, match="in the way"):
            tensors.write_folder(tmp_path / name, "stage", SMALL, {}, kind="stage")
    assert sorted(tmp_path.rglob("*")) == before


def test_match_names_the_first_difference() -> None:
    template = {"a/w": ((2, 3), np.float32), "b": ((), "int64")}
    good = {"a/w": np.zeros((2, 3), np.float32), "b": np.array(1)}
    tensors.match(good, template, "stage-1")
    wrong = {
        "a/w' is float32\\[3, 2\\], expected float32\\[2, 3\\]": good
        | {"a/w": np.zeros((3, 2), np.float32)},
        "b' is int32\\[\\], expected int64\\[\\]": good | {"b": np.array(1, np.int32)},
        "a/w' is missing": {"b": np.array(1)},
        "c' is not expected": good | {"c": np.array(1)},
    }
    for message, content in wrong.items():
        with pytest.raises(StoreError, match=message) as caught:
            tensors.match(content, template, "stage-1")
        assert caught.value.where == "stage-1"


def test_record_holds_what_it_promises(tmp_path: Path) -> None:
    tensors.write_bundle(tmp_path, "checkpoint", SMALL, {"a": 1}, kind="checkpoint")
    record = json.loads((tmp_path / "checkpoint.json").read_text())
    data = (tmp_path / record["file"]).read_bytes()
    assert record["file"] == f"checkpoint-{formats.sha256(data)[:12]}.safetensors"
    assert (record["format"], record["kind"], record["facts"]) == (1, "checkpoint", {"a": 1})
    assert record["sha256"] == formats.sha256(data)


@pytest.mark.parametrize("call", range(1, 7))
def test_a_fault_at_any_call_leaves_a_pair_that_loads(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, call: int
) -> None:
    tensors.write_bundle(tmp_path, "checkpoint", SMALL, {"i": 0}, kind="checkpoint")
    count = 0

    def faulty(real: Callable[..., None]) -> Callable[..., None]:
        def called(*args: object, **folders: int) -> None:
            nonlocal count
            count += 1
            if count == call:
                raise OSError(5, "Input/output error")
            real(*args, **folders)

        return called

    new = {"w": np.ones(2)}
    with monkeypatch.context() as patch:
        patch.setattr(os, "fsync", faulty(os.fsync))
        patch.setattr(os, "replace", faulty(os.replace))
        with pytest.raises(DiskError):
            tensors.write_bundle(tmp_path, "checkpoint", new, {"i": 1}, kind="checkpoint")
    found, facts = tensors.read_bundle(tmp_path, "checkpoint", kind="checkpoint")
    # The sixth call is the fsync of the folder: the new pair is in place by then.
    assert facts == {"i": int(call == 6)}
    assert same(found, new if call == 6 else SMALL)
