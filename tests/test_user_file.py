"""Text of regular files of a moderate size is read; else it is said why not."""

import os
from pathlib import Path

import pytest

from nbyt.user_file import LARGEST, read_text


def test_text_comes_back_without_its_mark_and_through_a_link(tmp_path: Path) -> None:
    file, link = tmp_path / "a.toml", tmp_path / "link"
    file.write_bytes("\ufeffé = 1\n".encode())
    link.symlink_to(file)
    assert read_text(file) == read_text(link) == "é = 1\n"
    file.write_bytes(b"#" * LARGEST)
    assert len(read_text(file)) == LARGEST


def test_what_is_no_text_file_is_refused_without_waiting(tmp_path: Path) -> None:
    pipe, large, binary = (tmp_path / name for name in ("pipe", "large", "binary"))
    os.mkfifo(pipe)
    large.write_bytes(b"#" * (LARGEST + 1))
    binary.write_bytes(b"\xff\xfe\x00n_steps")
    reasons = {
        pipe: "no regular file",
        tmp_path: "no regular file",
        Path("/dev/zero"): "no regular file",
        large: "larger than 256 KB",
        binary: "not UTF-8",
        tmp_path / "missing": "No such file",
    }
    for path, reason in reasons.items():
        with pytest.raises(ValueError, match=reason):
            read_text(path)
