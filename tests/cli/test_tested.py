"""The date that `nbyt doctor` shows is that of constraints.txt."""

from datetime import date
from pathlib import Path

from nbyt.cli.tested import CONSTRAINTS_REFRESHED

CONSTRAINTS = Path(__file__).parents[2] / "constraints.txt"


def test_the_date_is_that_of_the_constraints() -> None:
    first = CONSTRAINTS.read_text().splitlines()[0]
    assert first.startswith(f"# Refreshed on {CONSTRAINTS_REFRESHED} ")
    assert date.fromisoformat(CONSTRAINTS_REFRESHED) <= date.today()
