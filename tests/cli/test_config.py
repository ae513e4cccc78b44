"""`--config`: a file of options does what the flags do, and a hostile one is refused in words."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from nbyt.cli import main
from nbyt.cli.config import options_of_file
from nbyt.errors import UsageError

AUDIT = ["audit", "brax", "--dry-run"]
GOOD = "batch = 64\nminibatch = 8\nepochs = 2\n"
HOSTILE = {
    "invalid UTF-8": b"envs = 8\n\xff\xfe",
    "nested brackets": b"x = " + b"[" * 5000,
    "brackets in lines": b"x = " + b"[\n" * 5000,
    "nested tables": b"x = " + b"{a = " * 5000,
    "a long integer": b"batch = " + b"9" * 5000,
    "a long hexadecimal": b"batch = 0x" + b"f" * 5000,
    "the command is a number": b"audit = 5",
    "the command is a list": b"[[audit]]\nbatch = 64",
    "not TOML": b"batch: 64",
    "large": b"#" * (256 * 1024 + 1),
    "another file": b"config = 'other.toml'",
    "help": b"help = true",
    "a table in place of a number": b"batch = {a = 1}",
    "a list in place of a number": b"batch = [64, 64]",
    "quiet is no switch": b"quiet = 5\n" + GOOD.encode(),
    "algo of a number": b"algo = 5",
    "deep dots": b"a." * 50_000 + b"a = 1",
    "many deep dots": b"".join(b"x%d." % k + b"a." * 500 + b"a = 1\n" for k in range(250)),
    "a list of tables": b"batch = [{a = 1}]",
    "an empty key": b"'' = 5",
    "a key with dots": b"'a.b.c' = 5",
}


def audit(path: Path | str, *more: str) -> int:
    return main.run([*AUDIT, "--config", str(path), *more])


@pytest.mark.parametrize("case", HOSTILE)
def test_a_file_that_cannot_be_is_refused(
    case: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "run.toml").write_bytes(HOSTILE[case])
    assert audit(tmp_path / "run.toml", "--json") == 2
    told = capsys.readouterr()
    error = json.loads(told.out)["error"]
    assert all(error.values()) and len(error["message"]) < 1000
    assert "run.toml" in f"{error['message']} {error['where']}" and "Traceback" not in told.err


@pytest.mark.skipif(os.name == "nt", reason="Windows has no such files")
def test_only_regular_files_are_read(tmp_path: Path) -> None:
    """In a process of its own: one that waits for a writer, or reads without end, is ended."""
    os.mkfifo(tmp_path / "pipe")
    code = "import sys; from nbyt.cli import main; sys.exit(main.run(sys.argv[1:]))"
    for path in ("pipe", "/dev/zero", ".", "nowhere", "\0"[:0]):
        done = subprocess.run(
            [sys.executable, "-c", code, "dialects", "sb3", "--config", path],
            cwd=tmp_path,
            capture_output=True,
            text=True,
            timeout=60,
        )
        assert done.returncode == 2 and "--config" in done.stderr, (path, done.stderr)
        assert "Traceback" not in done.stderr


def test_a_link_that_the_user_names_is_followed(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "real.toml").write_text(GOOD)
    (tmp_path / "run.toml").symlink_to("real.toml")
    assert audit(tmp_path / "run.toml", "--json") == 0
    assert json.loads(capsys.readouterr().out)["status"] == "ok"


@pytest.mark.parametrize("asked", ["file", "--json", "--json=true"])
def test_json_is_json_wherever_it_is_asked_for(
    asked: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "run.toml").write_text(GOOD + ("json = true\n" if asked == "file" else ""))
    flags = [] if asked == "file" else [asked]
    assert audit(tmp_path / "run.toml", *flags) == 0
    assert json.loads(capsys.readouterr().out)["data"]["batches"] > 0
    assert audit(tmp_path / "run.toml", *flags, "--batch", "63") in (0, 2)
    json.loads(capsys.readouterr().out)
    if asked == "file":  # the command line wins
        assert audit(tmp_path / "run.toml", "--json=false") == 0
        assert not capsys.readouterr().out.startswith("{")


def test_tables_are_for_their_commands(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """What stands at the top is for all; the command's own table wins; others are not looked at."""
    file = tmp_path / "run.toml"
    file.write_text(
        "batch = 32\nminibatch = 8\n[audit]\nbatch = 64\nepochs = 2\n[train]\nfoo = 1\n"
    )
    assert options_of_file(str(file), "audit", main._COMMANDS) == {
        "batch": 64,
        "minibatch": 8,
        "epochs": 2,
    }
    assert audit(file) == 0
    capsys.readouterr()
    file.write_text(GOOD + "minibatches = 8\n")
    assert audit(file) == 2
    assert "minibatches" in (said := capsys.readouterr().err) and "did you mean minibatch?" in said


KEYS = st.sampled_from(
    ["batch", "minibatch", "epochs", "seed", "json", "quiet", "env", "x", "audit"]
)
VALUES = st.one_of(
    st.integers(), st.floats(), st.booleans(), st.dates(), st.text("a[]{}=.#'\\\n", max_size=5)
)
LINES = st.one_of(
    st.builds(lambda key, value: f"{key} = {str(value).lower()}", KEYS, VALUES),
    st.builds(lambda key: f"[{key}]", KEYS),
    st.text(max_size=20),
)


@settings(max_examples=150, deadline=None)
@given(st.lists(LINES, max_size=6))
def test_any_text_is_options_or_refused(tmp_path_factory, lines: list[str]) -> None:
    file = tmp_path_factory.getbasetemp() / "any.toml"
    file.write_bytes("\n".join(lines).encode("utf-8", "surrogatepass"))
    tokens = [*AUDIT, "--batch=64", "--minibatch=8", "--epochs=1", "--config", str(file)]
    try:
        main.parse(tokens, options_of_file(str(file), "audit", main._COMMANDS))
    except UsageError as error:
        assert error.fix and error.where  # noqa: PT017
