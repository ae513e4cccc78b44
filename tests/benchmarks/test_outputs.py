"""Outputs on the pages are what their commands print."""

import json
import re
from pathlib import Path
from typing import Any

import pytest
from benchmarks.site import outputs
from benchmarks.site.outputs import Block, blocks, differs, printed

pictures = pytest.importorskip("benchmarks.site.pictures")

BLOCKS = blocks()
TEXT = "one\ntwo\nthree\n"


@pytest.mark.parametrize("block", BLOCKS, ids=lambda block: f"{block.page.name} {block.command}")
def test_a_page_shows_what_the_command_prints(block: Block) -> None:
    text = printed(block)
    assert not differs(block, text), text


@pytest.mark.parametrize(
    ("shown", "wrong"),
    [
        (TEXT, False),
        ("one\n...\n", False),
        ("...\nthree\n", False),
        ("one\n...\nthree\n", False),
        ("one\nthree\n", True),
        ("one\n", True),
        ("...\nwo\n...\n", True),
        ("three\n...\none\n", True),
        ("...\nthre\n", True),
    ],
)
def test_a_block_that_shows_something_else_is_found(shown: str, wrong: bool) -> None:
    assert differs(Block(Path("page.md"), "nbyt dialects", shown), TEXT) is wrong


def test_every_question_has_a_command_or_a_link() -> None:
    text = (outputs.ROOT / "docs/faq.md").read_text()
    answers = re.split(r"^### .*$", text, flags=re.MULTILINE)[1:]
    assert len(answers) > 15
    for answer in answers:
        assert "nbyt " in answer or "](" in answer, answer


def test_results_that_no_page_shows_are_not_kept() -> None:
    assert {file.name for file in outputs.KEPT.iterdir()} <= {block.file.name for block in BLOCKS}


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_the_pictures_of_the_readme_are_there_and_small(scheme: str) -> None:
    picture = (pictures.PICTURES / f"advice-{scheme}.png").read_bytes()
    assert picture.startswith(b"\x89PNG") and len(picture) <= pictures.LARGEST
    assert f"docs/assets/advice-{scheme}.png" in (outputs.ROOT / "README.md").read_text()


def test_the_picture_is_of_the_page_of_the_readmes_advice(chromium: Any, tmp_path: Path) -> None:
    page = pictures.page(tmp_path)
    (block,) = (one for one in blocks((outputs.ROOT / "README.md",)) if one.words[0] == "advise")
    envs = json.loads(block.file.read_text())["advice"]["time"]["envs"]
    assert f"Fastest: {envs} envs" in block.shown and f"{envs}" in page.read_text()
    picture = pictures.take(chromium, page, "light")
    assert picture.startswith(b"\x89PNG") and len(picture) <= pictures.LARGEST
