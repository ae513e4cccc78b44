"""Files from strangers: refused within a second; nothing imported, run, or opened elsewhere."""

import json
import os
import subprocess
import sys
import zipfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from tests.store import kept

from nbyt.store import formats, tensors
from nbyt.store.tensors import write_folder

# Protocol 2 of os.system("touch pwned"), spelled out: this repository imports no pickle.
PICKLE = b"\x80\x02cposix\nsystem\nX\x0b\x00\x00\x00touch pwned\x85R."
GOOD = tensors.dump({"w": np.arange(3.0)}, "")


def raw(entries: dict[str, Any] | str, payload: bytes = b"") -> bytes:
    text = (entries if isinstance(entries, str) else json.dumps(entries)).encode()
    return len(text).to_bytes(8, "little") + text + payload


def entry(dtype: str, shape: list[int], start: int, stop: int) -> dict[str, Any]:
    return {"dtype": dtype, "shape": shape, "data_offsets": [start, stop]}


# Each of these is given a right SHA-256 and a right seal: only the content is wrong.
CONTENTS: dict[str, bytes] = {
    "pickle": PICKLE,
    "empty": b"",
    "giant header length": b"\xff" * 8 + b"{}",
    "header above the cap": raw("{" + " " * (17 << 20) + "}"),
    "header is a list": raw("[]"),
    "header nested deep": raw('{"a":' * 50_000 + "1" + "}" * 50_000),
    "header not UTF-8": (4).to_bytes(8, "little") + b'{"\xff}',
    "100k entries": raw({f"t{i}": entry("U8", [0], 0, 0) for i in range(100_000)}),
    "unknown dtype": raw({"w": entry("BF16", [1], 0, 2)}, b"\0\0"),
    "dtype is a list": raw({"w": {"dtype": ["F32"], "shape": [0], "data_offsets": [0, 0]}}),
    "entry is text": raw({"w": "F32"}),
    "metadata": raw({"__metadata__": {"__reduce__": "os.system"}}),
    "offsets outside": raw({"w": entry("F32", [4], 0, 16)}, b"\0" * 8),
    "offsets overlap": raw({"a": entry("U8", [4], 0, 4), "b": entry("U8", [4], 2, 6)}, b"\0" * 6),
    "offsets backwards": raw({"a": entry("U8", [4], 4, 0)}, b"\0" * 4),
    "shape overflows": raw({"w": entry("F64", [2**62, 2**62], 0, 8)}, b"\0" * 8),
    "shape negative": raw({"w": entry("F64", [-1], 0, 8)}, b"\0" * 8),
    "shape and size differ": raw({"w": entry("F64", [2], 0, 8)}, b"\0" * 8),
    "a bool of 2": raw({"w": entry("BOOL", [1], 0, 1)}, b"\2"),
    "bytes behind the end": GOOD + b"\0",
}

RECORDS: dict[str, dict[str, Any]] = {
    "file above": {"file": "../x.safetensors"},
    "file absolute": {"file": "/etc/passwd"},
    "file in a folder": {"file": "a/stage.safetensors"},
    "file with NUL": {"file": "stage.safetensors\0"},
    "file is a list": {"file": ["stage.safetensors"]},
    "hash that climbs": {"file": "stage-../../x.safetensors", "sha256": "../../x"},
    "no hash": {"sha256": None},
    "facts are a list": {"facts": []},
    "format true": {"format": True},
    "format 99": {"format": 99},
    "format text": {"format": "1"},
    "kind run": {"kind": "run"},
}

TEXTS: dict[str, bytes] = {
    "pickle as JSON": PICKLE,
    "nested deep": b"[" * 500_000,
    "above the cap": b" " * ((1 << 20) + 1),
    "endless number": b'{"format": ' + b"9" * 100_000 + b"}",
    "not finite": b'{"format": NaN}',
    "overflowing": b'{"format": 1e999}',
    "empty JSON": b"",
    "null": b"null",
    "no seal": b"{}\n",
}


def forge(folder: Path, content: bytes = GOOD, **changes: Any) -> None:
    """A stage whose hashes are right, whatever it says."""
    folder.mkdir(exist_ok=True)
    (folder / "stage.safetensors").write_bytes(content)
    record = json.loads(
        formats.sealed(
            kept.stage(), kind="stage", file="stage.safetensors", sha256=formats.sha256(content)
        )
    )
    del record["self_sha256"]
    record |= changes
    record["self_sha256"] = formats.sha256(formats.canonical(record))
    (folder / "stage.json").write_bytes(formats.canonical(record))


def zipped(folder: Path) -> None:
    path = folder / "z"
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr("data.pkl", PICKLE)
    forge(folder, path.read_bytes())
    path.unlink()


def sparse(folder: Path) -> None:
    forge(folder)
    os.truncate(folder / "stage.safetensors", (2 << 30) + 1)


def swapped(name: str, make: Callable[[Path], None]) -> Callable[[Path], None]:
    def build(folder: Path) -> None:
        forge(folder)
        (folder / name).unlink()
        make(folder / name)

    return build


BUILDERS: dict[str, Callable[[Path], None]] = {
    "zip": zipped,
    "3 GB": sparse,
    **{
        f"{name} {kind}": swapped(name, make)
        for name in ("stage.json", "stage.safetensors")
        for kind, make in {
            "symlink": lambda path: path.symlink_to("/etc/passwd"),
            "symlink to device": lambda path: path.symlink_to("/dev/zero"),
            "FIFO": os.mkfifo,
            "folder": os.mkdir,
            "missing": lambda path: None,
        }.items()
    },
}

JUDGE = """
import json, os, sys, time
from pathlib import Path
from nbyt.errors import StoreError
from nbyt.store.run import load_stage, verify
from nbyt.store.atomic import read_bytes

root, cases = sys.argv[1], sorted(os.listdir(sys.argv[1]))
seen, here = [], [""]
BANNED = ("import", "exec", "compile", "marshal.", "pickle.", "os.system", "os.exec", "os.spawn",
          "subprocess.", "socket.", "ctypes.", "os.remove", "os.rename", "os.mkdir", "shutil.")

def watch(event, args):
    if not here[0]:
        return
    if event == "open":
        path, mode, flags = args
        writes = flags & (os.O_WRONLY | os.O_RDWR | os.O_CREAT)
        inside = isinstance(path, int) or os.fspath(path).startswith(here[0])
        if writes or not inside:
            seen.append([event, str(path)])
    elif event.startswith(BANNED):
        seen.append([event, repr(args)[:100]])

def judge(name, path, load):
    seen.clear()
    here[0] = path
    start = time.process_time()
    try:
        load(Path(path))
        verdict = "loaded"
    except StoreError as error:
        verdict = "StoreError"
        name_in = path in error.message
    except BaseException as error:
        verdict = type(error).__name__
    seconds = time.process_time() - start
    here[0] = ""
    report[name] = [verdict, seconds, list(seen), verdict != "StoreError" or name_in]

report = {}
sys.addaudithook(watch)
for name in cases:
    judge(name, os.path.join(root, name), load_stage)
judge("/dev/zero", "/dev/zero", load_stage)
judge("/dev/zero as file", "/dev/zero", lambda path: read_bytes(path, limit=100))
judge("verify", root, verify)
print(json.dumps(report))
"""


@pytest.fixture(scope="module")
def report(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Any]:
    """What a watched process did with every hostile stage, by name."""
    root = tmp_path_factory.mktemp("hostile")
    write_folder(root / "good", "stage", {"w": np.arange(3.0)}, kept.stage(), kind="stage")
    for name, content in CONTENTS.items():
        forge(root / name, content)
    for name, changes in RECORDS.items():
        forge(root / name, **changes)
    for name, text in TEXTS.items():
        forge(root / name)
        (root / name / "stage.json").write_bytes(text)
    for name, build in BUILDERS.items():
        (root / name).mkdir()
        build(root / name)
    done = subprocess.run(
        [sys.executable, "-c", JUDGE, str(root)],
        capture_output=True,
        text=True,
        timeout=60,
        cwd=root.parent,
    )
    assert done.returncode == 0, done.stderr
    assert not list(root.parent.rglob("pwned"))
    return json.loads(done.stdout)


def test_the_forger_can_make_a_good_stage(report: dict[str, Any], tmp_path: Path) -> None:
    forge(tmp_path / "forged")
    write_folder(tmp_path / "good", "stage", {"w": np.arange(3.0)}, kept.stage(), kind="stage")
    for name in ("stage.json", "stage.safetensors"):
        forged, good = tmp_path / "forged" / name, tmp_path / "good" / name
        assert forged.read_bytes() == good.read_bytes()
    assert report["good"][0] == "loaded"


def test_every_hostile_file_is_refused(report: dict[str, Any]) -> None:
    hostile = {*CONTENTS, *RECORDS, *TEXTS, *BUILDERS, "/dev/zero", "/dev/zero as file"}
    assert hostile == report.keys() - {"good", "verify"}
    assert {name: report[name][0] for name in hostile if report[name][0] != "StoreError"} == {}
    assert [name for name in hostile if not report[name][3]] == [], "the file is not named"


def test_refusal_is_quick(report: dict[str, Any]) -> None:
    assert {name: row[1] for name, row in report.items() if row[1] >= 1.0} == {}


def test_nothing_is_imported_run_or_opened_elsewhere(report: dict[str, Any]) -> None:
    assert {name: row[2] for name, row in report.items() if row[2]} == {}


def test_the_watch_sees_what_it_should() -> None:
    """The audit hook has power: a real unpickling, import and foreign open are all noticed."""
    bad = "import colorsys; open('/etc/hostname').close(); exec('1')"
    script = JUDGE.split("report = {}")[0] + (
        f"report = {{}}\nsys.addaudithook(watch)\njudge('x', root, lambda path: exec({bad!r}))\n"
        "print(json.dumps([event for event, _ in report['x'][2]]))"
    )
    done = subprocess.run(
        [sys.executable, "-c", script, os.curdir], capture_output=True, text=True, timeout=60
    )
    assert {"import", "open", "exec"} <= set(json.loads(done.stdout)), done.stderr
