"""Laws of the manifest: enough to repeat a run, and nothing that is nobody's business."""

import json
import platform
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from nbyt import __version__
from nbyt.store.files import FAILED
from nbyt.store.manifest import manifest, tidy
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


@pytest.mark.parametrize(
    ("value", "kept"),
    [
        (f"https://user:p@{TOKEN}@host/?token={TOKEN}", "https://host/"),
        (f"https://host:8080/a/b?token={TOKEN}#{TOKEN} after", "https://host:8080/a/b after"),
        (f"a=https://u:{TOKEN}@h/x,https://c:{TOKEN}@i/y;s3://{TOKEN}@j", None),
        (f"HTTPS://{TOKEN}@host/x", "HTTPS://host/x"),
        (f"jdbc:postgresql://u:{TOKEN}@[::1]:5432/db?password={TOKEN}", None),
        (f"https://host/x?to=https://u:{TOKEN}@h/y?z={TOKEN}", None),
        (f'{{"url": "https://u:{TOKEN}@h/x?t={TOKEN}"}}', None),
        # Malformed: nothing of these is kept.
        (f"https://user:{TOKEN}/x@host/y", "https://..."),
        (f"https://user:12/{TOKEN}@host/y", "https://..."),
        (f"https://user:p {TOKEN}@host/y", "https://..."),
        (f"https://u:{TOKEN}@[host/y", "https://..."),
        (f"https://host:port{TOKEN}/y", "https://..."),
        (f"https://\u2100{TOKEN}/y", "https://..."),
        # No address.
        ("--xla_a=1 --xla_b=2?#@ a//b c:d", "--xla_a=1 --xla_b=2?#@ a//b c:d"),
        ("://", "://"),
        ("", ""),
    ],
)
def test_of_an_address_only_host_and_path_are_kept(
    home: Path, monkeypatch: pytest.MonkeyPatch, value: str, kept: str | None
) -> None:
    monkeypatch.setenv("XLA_FLAGS", value)
    record = manifest(value, {value: [value]}, 3, "cpu")
    found = record["environment"]["XLA_FLAGS"]
    assert kept is None or found == kept
    assert record["command"] == found and record["settings"] == {found: [found]}
    assert TOKEN not in json.dumps(record)


@given(st.text(st.sampled_from("ah:/@?#[] 1%\n"), max_size=40))
def test_no_text_breaks_a_manifest_and_no_password_survives(text: str) -> None:
    assert isinstance(tidy(f"http://{text}"), str)
    assert TOKEN not in tidy(f"http://user:{TOKEN}@{text}") and "user" not in tidy("ab://user@h")


def test_only_variables_on_the_list_are_stored(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("JAX_SECRET_TOKEN", "XLA_X", "JAX_COMPILATION_CACHE_DIR", "WANDB_API_KEY"):
        monkeypatch.setenv(name, TOKEN)
    kept = {"JAX_PLATFORMS": "cpu", "XLA_FLAGS": "--xla_a=1", "OMP_NUM_THREADS": "2"}
    for name, value in kept.items():
        monkeypatch.setenv(name, value)
    record = manifest("nbyt train", {}, 0, "cpu")
    assert record["environment"].items() >= kept.items() and TOKEN not in json.dumps(record)


def test_long_texts_are_tidied_in_no_time() -> None:
    """Quadratic would take hours."""
    for text in ("a" * 500_000, "http://" + "a" * 500_000, "http://" * 50_000):
        assert len(tidy(text)) <= len(text)


def test_why_a_cell_failed_is_kept_without_secrets(home: Path, tmp_path: Path) -> None:
    sweep = open_run(tmp_path / "sweep", {"command": "sweep"}, "sweep")
    message = f"GET http://u:{TOKEN}@sim/step?key={TOKEN} failed in {home}/env.py"
    sweep.write(FAILED, {"code": "env", "message": message, "where": "", "fix": ""}, "4x8-seed-0")
    kept = sweep.read(FAILED, "4x8-seed-0")
    assert kept is not None and kept.message == "GET http://sim/step failed in ~/env.py"


def test_home_of_root_spoils_no_path(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HOME", "/")
    assert manifest("ls /usr/bin", {}, 0, "cpu")["command"] == "ls /usr/bin"


def test_the_marker_keeps_the_first_manifest(tmp_path: Path) -> None:
    first = manifest("nbyt train", {"lr": 0.1}, 3, "cpu")
    open_run(tmp_path / "run", {"lr": 0.1}, manifest=first)
    open_run(tmp_path / "run", {"lr": 0.1}, manifest=first | {"command": "later"})
    marker = json.loads((tmp_path / "run" / "nbyt-run.json").read_text())
    assert marker["facts"] == {"identity": {"lr": 0.1}, "manifest": first}
