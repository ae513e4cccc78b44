"""A sweep in a terminal of 80 columns."""

import io
import re
from typing import Any

import pytest
from rich.console import Console
from tests.sweeps.made_up import (
    curves_of,
    failure,
    finished,
    grid_of,
    record,
    summary,
    with_holes,
)

from nbyt.report.tables.sweep import failure_lines, last_line, layout_table, sweep_lines

Data = dict[str, Any]


def printed(*things: Any) -> list[str]:
    """The lines that a terminal of 80 columns gets."""
    console = Console(file=io.StringIO(), width=80, highlight=False)
    for thing in things:
        console.print(thing)
    return console.file.getvalue().splitlines()


@pytest.fixture
def data() -> Data:
    """A sweep with failures, a layout with no seed, and the advice."""
    return with_holes()


def rows_of(lines: list[str]) -> list[list[str]]:
    """The words of each layout; what wraps belongs to the layout above it."""
    found: list[list[str]] = []
    for line in lines:
        words = line.split()
        if re.match(r"\d+x\d+", words[0]):
            found.append([])
        found[-1] += words
    return found


@pytest.mark.parametrize("scale", [1.0, 1e-4, -1234.5])
def test_the_table_fits_and_has_every_layout(data: Data, scale: float) -> None:
    """Whatever the size of returns: no number and no word is cut."""
    for layout in data["layouts"]:
        for kind in ("per_sample", "per_second"):
            for name in ("over_training", "final"):
                number = layout[kind][name]
                known = {k: scale * number[k] for k in ("value", "low", "high") if number[k]}
                number |= known
    lines = printed(layout_table(record(data)))
    assert max(map(len, lines)) <= 80
    rows = rows_of(lines[2:])
    assert [row[0].rstrip("*=") for row in rows] == [
        f"{64 // t}x{t}" for t in (1, 2, 4, 8, 16, 32, 64)
    ]
    assert all(" ".join(row).count("]") == 3 for row in rows[1:]) and rows[0][1:4] == ["-"] * 3
    assert rows[3][0] == "8x8*" and {"6", "of", "8", "seeds"} <= set(rows[1])
    assert "advised" in " ".join(rows[-1])
    for row, layout in zip(rows, data["layouts"], strict=True):
        for word in " ".join(layout["defaults_of"][:2]).split():
            assert word in [one.rstrip(",") for one in row]


def test_lines_say_what_came_out(data: Data) -> None:
    lines = sweep_lines(record(data))
    assert lines[0].startswith("per sample: 8x8 has the highest mean return over training")
    assert lines[1].startswith("per second: ")
    assert any(line.startswith("advice per sample: 1x64, which loses") for line in lines)
    assert any("default of Stable-Baselines3" in line for line in lines)
    assert lines[0].endswith("; too few seeds to say: 64x1.")


def test_too_few_seeds_name_no_winner_and_say_how_many_are_needed() -> None:
    grid = grid_of(3, (4, 8, 16))
    found = record(summary(grid, curves_of(grid), {}))
    lines = printed(layout_table(found), *sweep_lines(found))
    text = " ".join(" ".join(lines).split())
    assert "No winner is named." in text and "1 more of each are needed" in text
    assert "*" not in text and "best" not in text and max(map(len, lines)) <= 80


def test_failures_end_with_what_was_said_last(data: Data) -> None:
    lines = failure_lines(record(data))
    assert lines[0] == "64x1 seed 0 failed: env 'x' raised ValueError (x)"
    assert lines[-1] == "2 more failed; the page names all of them" and len(lines) == 9
    assert last_line(" \n") == "for an unknown reason"


def test_missing_trainings_are_counted() -> None:
    grid = grid_of(4, (4, 8))
    some = dict(list(curves_of(grid).items())[:5])
    found = record(summary(grid, some, {}))
    assert failure_lines(found) == ["3 trainings are missing"]
    assert max(map(len, printed(layout_table(found), *sweep_lines(found)))) <= 80


def test_nothing_finished_is_said() -> None:
    grid = grid_of(2, (4, 8))
    found = record(summary(grid, {}, dict.fromkeys(grid.cells, failure())))
    assert sweep_lines(found) == ["No training was finished, so there is nothing to compare."]
    assert len(rows_of(printed(layout_table(found))[2:])) == 2


def test_a_whole_sweep_has_no_failures() -> None:
    grid = grid_of(4, (4, 8))
    assert failure_lines(record(finished(grid, curves_of(grid)))) == []
