"""`nbyt calculator` writes one file; what is in it is tested in tests/calculator."""

import json
from pathlib import Path

from tests.cli.commands import nbyt


def test_one_file_is_written_and_named(tmp_path: Path) -> None:
    path = tmp_path / "page.html"
    data = json.loads(nbyt("calculator", "--out", str(path), "--json").stdout)["data"]
    assert data == {"path": str(path), "bytes": path.stat().st_size}
    text = path.read_text()
    assert text.startswith("<!doctype html>") and "{{" not in text.partition("<script>")[0]
    assert "http://" not in text.replace("http://www.w3.org/2000/svg", "")


def test_a_folder_that_is_not_there_is_told(tmp_path: Path) -> None:
    done = nbyt("calculator", "--out", str(tmp_path / "no" / "page.html"), code=2)
    assert "fix:" in done.stderr
