"""An advice in a terminal: lines and tables fit, and no word or number is cut."""

from typing import Any

import pytest
from msgspec import convert
from tests.report import made_up_advice
from tests.report.tables.printing import printed, uncut, widened

from nbyt.report.tables.advice import (
    answer_lines,
    change_lines,
    facts,
    layout_table,
    summary,
)
from nbyt.results import Advice

Data = dict[str, Any]
LIBRARIES = ["Stable-Baselines3", "TorchRL with its long name"]
FORMS = {
    "race": lambda data: data,
    "bare": made_up_advice.without_stages,
    "prior": made_up_advice.without_race,
    "samples": made_up_advice.without_time,
    "unlearnt": made_up_advice.unlearnt,
}


@pytest.fixture
def data() -> Data:
    """An advice by a race."""
    return made_up_advice.sample()


def test_the_verdict_comes_first_and_the_record_last(data: Data) -> None:
    lines = answer_lines(convert(data, Advice))
    text = " ".join(" ".join(lines).split())
    order = [
        data["advice"]["time"]["sentence"],
        "T = 16 loses",
        data["advice"]["samples"]["sentence"],
        data["current"]["sentence"],
        "Rests on 16 quarter trainings",
        "On 12 tasks it had not seen",
    ]
    places = [text.index(one) for one in order]
    assert places == sorted(places) and places[0] == 0


@pytest.mark.parametrize("form", FORMS)
def test_every_form_fits_and_reads_well(data: Data, form: str) -> None:
    record = convert(FORMS[form](data), Advice)
    lines = [line for part in summary(record) for line in printed(part)]
    text = " ".join(" ".join(lines).split())
    assert max(map(len, lines)) <= 80 and "…" not in text and "None" not in text
    assert text.startswith(record.answer.sentence)
    assert all(reason in text for reason in record.answer.reasons)
    assert all(line in "\n".join(lines) for line in answer_lines(record))


def test_no_interval_is_broken(data: Data) -> None:
    for width in range(40):
        data["advice"]["time"]["sentence"] = "x" * width + " lost 12 % [3, 21] and 5 % [0, 9] more"
        for line in answer_lines(convert(data, Advice)):
            assert line.count("[") == line.count("]") and len(line) <= 80
            assert not line.lstrip().startswith("%")


def test_every_layout_is_in_the_table_with_whole_names(data: Data) -> None:
    wide = widened(data["layouts"])
    for one in wide:
        one["defaults_of"] = LIBRARIES
    record = convert({**data, "layouts": wide}, Advice)
    text = uncut(layout_table(record), len(wide))
    for word in " ".join(LIBRARIES).split():
        assert text.count(word) == len(wide)
    assert "64x32*" in text and "yours" in text and "safe" in text
    assert text.count(" - ") == sum(not one["trainings"] for one in wide)


def test_probabilities_are_shown_where_they_are_calibrated(data: Data) -> None:
    known, unknown = (
        uncut(layout_table(convert(one, Advice)), 7)
        for one in (data, made_up_advice.without_stages(data))
    )
    assert "P(<= 5 %)" in known and ".89" in known and "P(" not in unknown


def test_texts_of_others_are_no_commands_to_the_terminal(data: Data) -> None:
    data["advice"]["time"]["sentence"] = "\x1b[31mred\x1b[0m\nlines [bold]loud[/bold]"
    data["layouts"][0]["defaults_of"] = ["\x1b]0;title\x07lib"]
    lines = answer_lines(convert(data, Advice))
    assert lines[0] == "red lines [bold]loud[/bold]"
    assert "\x1b" not in "".join(printed(layout_table(convert(data, Advice))))


def test_what_it_is_about_and_what_changes_is_said(data: Data) -> None:
    record = convert(data, Advice)
    assert dict(facts(record))["compared"] == "for the same time, costs: measured"
    assert change_lines(record) == []
    own = {**data["settings"][0], "changes": {"n_envs": 64}, "paste": "n_envs=64"}
    changed = convert({**data, "settings": [own]}, Advice)
    assert change_lines(changed) == ["in Stable-Baselines3: n_envs=64"]
    same = convert({**data, "settings": [{**own, "changes": {}, "paste": ""}]}, Advice)
    assert "nothing changes" in change_lines(same)[0]
