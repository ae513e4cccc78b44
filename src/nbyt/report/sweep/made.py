"""What was assumed, what was trained with, and the command that does it again."""

from typing import Any

from nbyt.report.page.element import Child, bullets, join, tag
from nbyt.report.page.part import Part, section
from nbyt.report.page.quantity import layout_name, words
from nbyt.report.page.shell import command, facts
from nbyt.results.values import Data


def made_section(data: Data) -> Part:
    """Assumptions, settings, the command and the versions."""
    versions: list[tuple[Child, Child]] = [
        (str(name), str(value)) for name, value in (data.get("versions") or {}).items()
    ]
    content = [
        bullets(_assumptions(data)),
        tag("h3", "Trained with"),
        facts(_settings(data)),
        tag("h3", "How to get this again"),
        command(str(data["reproduce"])),
        tag("h3", "Versions") if versions else None,
        facts(versions) if versions else None,
    ]
    return Part(section("assumed", "What was assumed", None, join(content)))


def _assumptions(data: Data) -> list[str]:
    start = "unknown" if data["start"] is None else f"{data['start']:.4g}"
    found = [
        "All layouts have the same batch, mini-batch size, epochs and learning settings; only N "
        "and T differ. With other settings another layout may be best.",
        f"Return over training is the mean of {len(data['points'])} returns at evenly spaced "
        "moments, that is the area under the learning curve. At each the policy is frozen and "
        "plays whole episodes.",
        "IQM is the interquartile mean: the mean of the middle half of the seeds. Its interval is "
        "a stratified bootstrap over the seeds of each layout, with percentiles taken further "
        "out for few seeds. A number with ≈ has an interval that is known to be rough.",
        "A layout ties with the best where the interval of the difference of their IQMs holds 0. "
        "Whoever looks best owes some of it to luck, so “behind the best” is rather too large.",
        "What the advised layout loses is measured with the best chosen in one half of the seeds "
        "and held against in the other, so that luck does not count; such intervals are wide.",
    ]
    return found + _timed(data, start)


def _timed(data: Data, start: str) -> list[str]:
    budget = data["budget"]
    if budget is None:
        return ["The seconds of an update were not measured, so nothing is said about time."]
    return [
        "The same time is that which the fastest layout takes for all of its updates: "
        f"{layout_name(budget)}, {words(budget['seconds'])} seconds of training alone, one "
        "training at a time. How long an update takes was timed at a few layouts on the machine "
        "of this sweep; between its points a curve is a straight line, and it is taken to come "
        f"from {start}, the lowest first point of all layouts."
    ]


def _settings(data: Data) -> list[tuple[Child, Child]]:
    seeds = data["seeds"]
    several = f"{seeds[0]} to {seeds[-1]}" if len(seeds) > 1 else str(seeds[0])
    rows: list[tuple[Child, Child]] = [
        ("environment", data["env"]),
        ("batch", f"{data['batch']:,}"),
        ("mini-batch", f"{data['minibatch']:,}"),
        ("epochs", str(data["epochs"])),
        ("steps of each training", f"{data['total']:,}"),
        ("seeds", several),
    ]
    rows += [(str(name).replace("_", " "), _plain(one)) for name, one in data["settings"].items()]
    return rows


def _plain(value: Any) -> str:
    if isinstance(value, bool):
        return "yes" if value else "no"
    return "none" if value is None else str(value)
