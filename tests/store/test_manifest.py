"""Laws of the manifest: enough to repeat a run, and nothing that is nobody's business."""

import json
import platform
from pathlib import Path

import numpy as np
import pytest

from nbyt import __version__
from nbyt.store.manifest import manifest
from nbyt.store.run import open_run

TOKEN = "tok-5ecr3t"


@pytest.fixture
def home(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Path:
    folder = tmp_path / "alice"
    monkeypatch.setenv("HOME", str(folder))
    return folder


def test_versions_are_those_installed(home: Path) -> None:
    versions = manifest("nbyt train", {}, 3, "cpu")["versions"]
    assert versions["numpy"] == np.__version__
    assert versions["python"] == platform.python_version()
    assert versions["nbyt"] == __version__
    assert {"jax", "jaxlib", "optax", "gymnax", "gymnasium"} <= versions.keys()


def test_no_secret_and_no_home_path(home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("WANDB_API_KEY", "GITHUB_TOKEN", "AWS_SECRET", "MY_JAX_TOKEN", "CUDA_X"):
        monkeypatch.setenv(name, TOKEN)
    monkeypatch.setenv("XLA_FLAGS", f"--xla_dump_to={home}/dump")
    monkeypatch.setenv("JAX_ENABLE_X64", "1")
    monkeypatch.setenv("CUDA_VISIBLE_DEVICES", "0")
    remote = f"https://user:{TOKEN}@example.org/x.git"
    record = manifest(
        f"nbyt train --out {home}/runs --data {remote}",
        {"out": home / "runs", "list": [str(home)], "other": f"{home}2/x", "lr": 0.1},
        3,
        "cpu",
    )
    assert record["environment"].items() >= {
        ("XLA_FLAGS", "--xla_dump_to=~/dump"),
        ("JAX_ENABLE_X64", "1"),
        ("CUDA_VISIBLE_DEVICES", "0"),
    }
    assert record["command"] == "nbyt train --out ~/runs --data https://example.org/x.git"
    settings = {"out": "~/runs", "list": ["~"], "other": f"{home}2/x", "lr": 0.1}
    assert record["settings"] == settings
    assert TOKEN not in json.dumps(record)


def test_home_of_root_spoils_no_path(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HOME", "/")
    assert manifest("ls /usr/bin", {}, 0, "cpu")["command"] == "ls /usr/bin"


def test_the_marker_keeps_the_first_manifest(tmp_path: Path) -> None:
    first = manifest("nbyt train", {"lr": 0.1}, 3, "cpu")
    open_run(tmp_path / "run", {"lr": 0.1}, manifest=first)
    open_run(tmp_path / "run", {"lr": 0.1}, manifest=first | {"command": "later"})
    marker = json.loads((tmp_path / "run" / "nbyt-run.json").read_text())
    assert marker["facts"] == {"identity": {"lr": 0.1}, "manifest": first}
