"""The display of a race: 80 columns, the answer so far, and plain lines without a terminal."""

import io

import numpy as np
from rich.console import Console
from tests.advice.races import made_up, planned

from nbyt.advice.race import Evidence
from nbyt.cli.advise_display import RaceDisplay, sparkline
from nbyt.progress import watched


def shown(evidence: Evidence) -> list[str]:
    """The lines that a terminal of 80 columns shows."""
    console = Console(file=io.StringIO(), width=80, force_terminal=True)
    display = RaceDisplay(console)
    display.watch(evidence)
    plain = Console(file=io.StringIO(), width=80)
    plain.print(display)
    return plain.file.getvalue().splitlines()


def half() -> Evidence:
    """Evidence of the first half of a race."""
    evidence = made_up(planned(), {4: 0.2, 16: 1.0})
    for cell in [one for one in evidence.curves if one.seed in evidence.race.seeds[2:]]:
        del evidence.curves[cell]
    evidence.done, evidence.running = 0.5, (4,)
    return evidence


def test_a_terminal_shows_every_layout_with_its_curve_and_the_answer_so_far() -> None:
    lines = shown(half())
    assert all(len(line) < 80 for line in lines)
    assert lines[0] == "race: 4 of 8 quarter trainings"
    short, long = lines[1:3]
    assert "16x4 " in short and "training" in short and "2 trained" in short
    assert "4x16*" in long and "█" in long and "█" not in short
    assert lines[3].startswith("now: 4x16, expected loss ") and "Ctrl-C" in lines[4]


def test_before_two_layouts_are_trained_there_is_no_answer() -> None:
    evidence = half()
    evidence.curves.clear()
    lines = shown(evidence)
    assert "now: nothing to compare yet" in lines and not any("Ctrl-C" in one for one in lines)


def test_when_the_race_is_over_only_the_curves_stay() -> None:
    evidence = half()
    evidence.over = True
    assert len(shown(evidence)) == 3


def test_nothing_learnt_is_said_and_nothing_is_marked() -> None:
    evidence = made_up(planned(), {4: 0.0, 16: 0.0})
    lines = shown(evidence)
    assert "now: nothing learnt so far" in lines and "*" not in "".join(lines)


def test_without_a_terminal_there_is_a_line_after_each_round() -> None:
    heard = io.StringIO()
    console = Console(file=heard, width=200)
    display = RaceDisplay(console)
    with watched(console, above=display):
        evidence = half()
        display.watch(evidence)
        display.watch(evidence)
        display.watch(made_up(planned(), {4: 0.2, 16: 1.0}))
    first, second = heard.getvalue().splitlines()
    assert first.startswith("after 4 quarter trainings: 4x16, expected loss ")
    assert second.startswith("after 8 quarter trainings: 4x16, expected loss ")


def test_the_bars_of_a_terminal_have_the_board_above_them() -> None:
    heard = io.StringIO()
    console = Console(file=heard, width=80, force_terminal=True)
    display = RaceDisplay(console)
    with watched(console, above=display) as progress:
        display.watch(half())
        progress("quarter trainings, 16x4", 50, 100)
    last = heard.getvalue().rpartition("race: 4 of 8")[2]
    assert "4x16*" in last and last.index("4x16*") < last.index("quarter trainings, 16x4")


def test_a_curve_goes_from_the_lowest_bar_to_the_highest() -> None:
    assert sparkline(np.arange(8.0), 0, 7) == "▁▂▃▄▅▆▇█"
    assert sparkline(np.array([1.0, 1.0]), 1, 1) == "▁▁"
