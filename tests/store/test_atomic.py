"""Laws of whole-file writes: all or nothing, in the right order, and reads of real files only."""

import errno
import os
import socket
import stat
from pathlib import Path

import pytest

from nbyt.errors import DiskError, StoreError
from nbyt.store import atomic


def test_bytes_come_back(tmp_path: Path) -> None:
    path = tmp_path / "a.bin"
    atomic.write_bytes(path, b"one")
    atomic.write_bytes(path, b"two\x00\r\n")
    assert atomic.read_bytes(path, limit=6) == b"two\x00\r\n"
    assert os.listdir(tmp_path) == ["a.bin"]


def test_json_is_canonical(tmp_path: Path) -> None:
    path = tmp_path / "a.json"
    atomic.write_json(path, {"b": (1, 2.5), "a": {10: "x", 9: "é"}})
    first = path.read_bytes()
    atomic.write_json(path, {"a": {"9": "é", "10": "x"}, "b": [1, 2.5]})
    assert path.read_bytes() == first
    assert first.endswith(b"}\n") and first.isascii()


@pytest.mark.parametrize("value", [float("nan"), float("inf"), object(), {1: 1, "1": 2}, b"x"])
def test_json_that_would_not_come_back_is_refused(tmp_path: Path, value: object) -> None:
    path = tmp_path / "a.json"
    atomic.write_json(path, 1)
    with pytest.raises(StoreError, match="JSON"):
        atomic.write_json(path, {"x": value})
    assert path.read_bytes() == b"1\n"
    assert os.listdir(tmp_path) == ["a.json"]


def test_order_is_fsync_file_then_rename_then_fsync_folder(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    calls: list[str] = []
    fsync, replace = os.fsync, os.replace

    def spy_fsync(descriptor: int) -> None:
        status = os.fstat(descriptor)
        is_folder = stat.S_ISDIR(status.st_mode)
        calls.append("fsync folder" if is_folder else f"fsync {status.st_size}")
        fsync(descriptor)

    def spy_replace(*names: str, **folders: int) -> None:
        calls.append("replace")
        replace(*names, **folders)

    monkeypatch.setattr(os, "fsync", spy_fsync)
    monkeypatch.setattr(os, "replace", spy_replace)
    atomic.write_bytes(tmp_path / "a", b"12345")
    assert calls == ["fsync 5", "replace", "fsync folder"]


@pytest.mark.parametrize(
    ("number", "kind"),
    [
        (errno.ENOSPC, DiskError),
        (errno.EDQUOT, DiskError),
        (errno.EFBIG, DiskError),
        (errno.EACCES, StoreError),
        (errno.EROFS, StoreError),
    ],
)
@pytest.mark.parametrize("call", ["open", "fsync", "replace"])
def test_refused_write_keeps_the_old_file(
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    call: str,
    number: int,
    kind: type[Exception],
) -> None:
    path = tmp_path / "a.bin"
    path.write_bytes(b"old")

    def refuse(*_: object, **__: object) -> None:
        raise OSError(number, os.strerror(number))

    with monkeypatch.context() as patch:
        patch.setattr(os, call, refuse)
        with pytest.raises(kind) as caught:
            atomic.write_bytes(path, b"x" * 1234)
    assert str(path) in str(caught.value) and "1234 bytes" in str(caught.value)
    assert path.read_bytes() == b"old"
    assert os.listdir(tmp_path) == ["a.bin"]


def test_interrupt_leaves_no_temporary(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def interrupt(_: int) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr(os, "fsync", interrupt)
    with pytest.raises(KeyboardInterrupt):
        atomic.write_bytes(tmp_path / "a", b"x")
    assert os.listdir(tmp_path) == []


def test_write_replaces_a_symlink_and_not_its_target(tmp_path: Path) -> None:
    (tmp_path / "target").write_bytes(b"theirs")
    (tmp_path / "link").symlink_to(tmp_path / "target")
    atomic.write_bytes(tmp_path / "link", b"ours")
    assert (tmp_path / "target").read_bytes() == b"theirs"
    assert not (tmp_path / "link").is_symlink()


def test_only_regular_files_of_bounded_size_are_read(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "file").write_bytes(b"12345")
    (tmp_path / "link").symlink_to(tmp_path / "file")
    os.mkfifo(tmp_path / "fifo")
    (tmp_path / "folder").mkdir()
    monkeypatch.chdir(tmp_path)  # a socket's name must be short
    with socket.socket(socket.AF_UNIX) as server:
        server.bind("socket")
    expected = {
        tmp_path / "link": "symlink",
        tmp_path / "fifo": "FIFO",
        tmp_path / "folder": "folder",
        tmp_path / "socket": "cannot be read",
        tmp_path / "none": "missing",
        tmp_path / "file" / "x": "cannot be read",
        tmp_path / "nul\0": "cannot be read",
        Path("/dev/zero"): "device",
    }
    for path, reason in expected.items():
        with pytest.raises(StoreError, match=reason):
            atomic.read_bytes(path, limit=10)
    with pytest.raises(StoreError, match="too large: 5 bytes, at most 4"):
        atomic.read_bytes(tmp_path / "file", limit=4)


def test_a_symlink_is_refused_where_the_system_cannot_be_asked_to(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Windows has no O_NOFOLLOW."""
    monkeypatch.setattr(atomic, "_READ", atomic._READ & ~atomic.NOFOLLOW)
    monkeypatch.setattr(atomic, "NOFOLLOW", 0)
    (tmp_path / "file").write_bytes(b"12345")
    (tmp_path / "link").symlink_to(tmp_path / "file")
    assert atomic.read_bytes(tmp_path / "file", limit=10) == b"12345"
    with pytest.raises(StoreError, match="is a symlink"):
        atomic.read_bytes(tmp_path / "link", limit=10)
