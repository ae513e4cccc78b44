"""The outputs that the pages show, made by the commands above them.

    python -m benchmarks.site.outputs [--write] [--train]

A block whose first line is `$ nbyt ...` shows what that command prints; a line of `...` stands for
lines that are left out. Commands that train nothing are run again. What rests on trainings is
printed from its result, which --train puts into benchmarks/site/outputs. Without an option, every
block that differs is named; --write corrects those that leave nothing out.
"""

import argparse
import io
import json
import os
import re
import shlex
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any, NamedTuple

from msgspec import convert

from nbyt.cli.output import PlainConsole
from nbyt.report.numbers import WIDTH
from nbyt.report.tables.advice import summary
from nbyt.report.tables.time import time_table
from nbyt.results.advice import Advice, TimedLayout
from nbyt.store.atomic import write_text

ROOT = Path(__file__).parents[2]
KEPT = Path(__file__).parent / "outputs"
PAGES = (ROOT / "README.md", *sorted((ROOT / "docs").rglob("*.md")))
LEFT_OUT = "..."
_BLOCK = re.compile(r"^```text\n\$ (nbyt [^\n]*)\n(.*?)^```$", re.MULTILINE | re.DOTALL)
# Commands whose results rest on trainings or timings.
_KEPT_COMMANDS = ("advise", "time")
# What is not shown, or says where it was done.
_PLATFORM = {"device": "cpu", "platform": ""}
_WITHOUT = {"stages": [], "machine": _PLATFORM, "versions": {}, "out": "", "report": ""}


class Block(NamedTuple):
    """A command on a page, with the lines that are shown below it."""

    page: Path
    command: str
    shown: str

    @property
    def words(self) -> list[str]:
        """The command after `nbyt`."""
        return shlex.split(self.command)[1:]

    @property
    def file(self) -> Path:
        """Where the result is kept, if it rests on trainings."""
        return KEPT / f"{'-'.join(re.findall('[a-z0-9]+', ' '.join(self.words).lower()))}.json"


def blocks(pages: tuple[Path, ...] = PAGES) -> list[Block]:
    """Every command on the pages that is shown with its output."""
    return [
        Block(page, *found) for page in pages for found in _BLOCK.findall(page.read_text("utf-8"))
    ]


def printed(block: Block) -> str:
    """What the command prints."""
    command = block.words[0]
    if command not in _KEPT_COMMANDS:
        return _lines(_run(block.words).stdout)
    if not block.file.exists():
        return f"{block.file.relative_to(ROOT)} is missing: --train makes it\n"
    return _rendered(command, json.loads(block.file.read_text("utf-8")))


def differs(block: Block, text: str) -> bool:
    """Return whether a block shows anything else than the text, in another order or not whole."""
    at = 0
    for part in _parts(block.shown):
        found = text.find(part, at)
        if found < 0 or (found and text[found - 1] != "\n"):
            return True
        at = found + len(part)
    whole = LEFT_OUT not in block.shown.splitlines()
    return whole and text != block.shown


def _parts(shown: str) -> Iterator[str]:
    for part in re.split(rf"^{re.escape(LEFT_OUT)}\n", shown, flags=re.MULTILINE):
        if part.strip():
            yield part


def _rendered(command: str, data: dict[str, Any]) -> str:
    """What a command prints of a result."""
    out = io.StringIO()
    console = PlainConsole(file=out, width=WIDTH)
    shown: dict[str, Callable[[], list[Any]]] = {
        "advise": lambda: summary(convert(data, Advice)),
        "time": lambda: [time_table(convert(data["layouts"], tuple[TimedLayout, ...]))],
    }
    for thing in shown[command]():
        console.print(thing)
    return _lines(out.getvalue())


def _lines(text: str) -> str:
    return "".join(f"{line.rstrip()}\n" for line in text.strip("\n").splitlines())


def _run(words: list[str], folder: str | None = None) -> subprocess.CompletedProcess[str]:
    plain = {"COLUMNS": "80", "NO_COLOR": "1", "TERM": "dumb"}
    nbyt = [sys.executable, "-m", "nbyt.cli.main", *words]
    return subprocess.run(
        nbyt, capture_output=True, text=True, cwd=folder, env={**os.environ, **plain}, check=False
    )


def train(block: Block) -> None:
    """Do what the command says, and keep its result."""
    with tempfile.TemporaryDirectory() as folder:
        done = _run([*block.words, "--json"], folder)
    if done.returncode:
        sys.exit(f"{block.command}\n{done.stdout}{done.stderr}")
    data = json.loads(done.stdout)["data"]
    kept = {name: _WITHOUT.get(name, value) for name, value in data.items()}
    KEPT.mkdir(exist_ok=True)
    write_text(block.file, json.dumps(kept, indent=1) + "\n")


def _replaced(page: Path, command: str, text: str) -> None:
    def other(found: re.Match[str]) -> str:
        same = found[1] == command and LEFT_OUT not in found[2].splitlines()
        return f"```text\n$ {command}\n{text}```" if same else found[0]

    write_text(page, _BLOCK.sub(other, page.read_text("utf-8")))


def main() -> None:
    """Check, write or train."""
    parser = argparse.ArgumentParser(prog="benchmarks.site.outputs", description=__doc__)
    parser.add_argument("--write", action="store_true")
    parser.add_argument("--train", action="store_true")
    options = parser.parse_args()
    every = blocks()
    if options.train:
        for file, block in {b.file: b for b in every if b.words[0] in _KEPT_COMMANDS}.items():
            train(block)
            print(f"kept {file.name}", flush=True)
    with ThreadPoolExecutor() as pool:
        texts = list(pool.map(printed, every))
    wrong = [
        (block, text) for block, text in zip(every, texts, strict=True) if differs(block, text)
    ]
    for block, text in wrong:
        where = f"{block.page.relative_to(ROOT)}: {block.command}"
        if options.write and LEFT_OUT not in block.shown.splitlines():
            _replaced(block.page, block.command, text)
            print(f"written: {where}")
        else:
            print(f"differs: {where}\n{text}")
    if wrong and not options.write:
        sys.exit(1)


if __name__ == "__main__":
    main()
