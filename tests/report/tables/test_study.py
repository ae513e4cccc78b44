"""Claims in a terminal of 80 columns."""

from typing import Any

import pytest
from msgspec import convert
from rich.console import Console

from nbyt.report.tables.study import claim_table
from nbyt.results.study import JudgedClaim


def _claim(topic: str, says: str, word: str, when: str = "", yes: int = 0, no: int = 0) -> Any:
    counts = {"yes": yes, "no": no, "open": 1}
    texts = dict.fromkeys(("id", "measured", "asks", "verdict"), "")
    lists: dict[str, Any] = {"numbers": {}, "checks": [], "notes": [], "figures": []}
    said = {"topic": topic, "claim": says, "word": word, "when": when, "counts": counts}
    return convert({**texts, **lists, **said}, JudgedClaim)


_CLAIMS = [
    _claim("Split", "A batch that is split otherwise has another gradient " * 2, "holds", yes=120),
    _claim("Split", "Longer is noisier", "holds when", "env is: A (3 of 3), B (0 of 9)", 3, 9),
    _claim("Phase", "Envs stay together", "cannot be told"),
    _claim("Split", "The last of its topic", "holds", yes=1),
    _claim("Phase", "Nothing \x1b[31mred\x1b[0m or [bold]loud[/bold]", "does not hold", no=4),
]


def _printed(claims: list[Any]) -> list[str]:
    console = Console(width=80, color_system=None)
    with console.capture() as caught:
        console.print(claim_table(claims))
    return caught.get().split("\n")


def test_claims_and_verdicts_are_whole_at_eighty_columns() -> None:
    lines = _printed(_CLAIMS)
    assert all(len(line) <= 80 for line in lines)
    text = " ".join(" ".join(lines).split())
    for claim in _CLAIMS[1:3]:
        assert f"{claim.word} {claim.claim}" in text
    assert "when env is: A (3 of 3), B (0 of 9)" in text
    first = next(line for line in lines if line.startswith("holds "))
    assert first.split()[-3:] == ["120", "0", "1"]
    # A long claim goes on below its own beginning, not below its verdict.
    after = lines[lines.index(first) + 1]
    assert after.startswith(" " * first.index("A batch") + after.strip()[0])


def test_topics_are_headings_and_verdicts_are_counted() -> None:
    lines = [line.strip() for line in _printed(_CLAIMS)]
    assert lines.count("Split") == 1 and lines.count("Phase") == 1
    said = "5 claims: holds 2, does not hold 1, holds when 1, cannot be told 1"
    assert said in lines
    words = " ".join(lines)
    assert words.index("The last of its topic") < words.index("Phase")


def test_a_text_is_no_command_to_the_terminal() -> None:
    assert any("Nothing red or [bold]loud[/bold]" in line for line in _printed(_CLAIMS))


@pytest.mark.parametrize("word", ["holds", "does not hold", "holds when", "cannot be told"])
def test_a_verdict_is_on_one_line(word: str) -> None:
    assert any(line.startswith(f"{word}  ") for line in _printed([_claim("x", "y " * 60, word)]))
