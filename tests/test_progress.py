"""Progress: one bar for all of the work, one for each thing under way, each said once."""

import io

from rich.console import Console

from nbyt.advice.request import OVERALL
from nbyt.progress import overall_progress


def test_without_a_terminal_each_name_is_said_once() -> None:
    heard = io.StringIO()
    with overall_progress(Console(file=heard, width=80), workers=2) as move:
        move(OVERALL, 0, 2)
        for done in range(3):
            move("first, training", done, 3)
            move("second, training", done, 3)
        move("first, measuring", 0, 1)
    assert heard.getvalue().splitlines() == [
        "first, training ...",
        "second, training ...",
        "first, measuring ...",
    ]


def test_a_terminal_shows_as_many_things_as_are_under_way() -> None:
    heard = io.StringIO()
    console = Console(file=heard, width=80, force_terminal=True)
    with overall_progress(console, workers=2) as move:
        for thing in ("first", "second", "third"):
            move(f"{thing}, training", 1, 3)
    last = heard.getvalue().rpartition("second, training")[2]
    assert "third, training" in last and "first" not in last
