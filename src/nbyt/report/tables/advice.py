"""An advice as tables and lines for a terminal of 80 columns, from the data of the JSON output."""

from collections.abc import Sequence

from rich.console import RenderableType
from rich.table import Table

from nbyt.report.numbers import cell, fitted, longest_word
from nbyt.results.values import Data
from nbyt.stats.estimate import rounded


def summary(data: Data) -> list[RenderableType]:
    """Return the tables and sentences that `nbyt advise` prints."""
    kinds = answers_shown(data)
    main, budget = data["advice"][kinds[0]], data["budget"]
    shown: list[RenderableType] = [stage_table(data), ""]
    shown += [] if budget is None else [budget_table(budget), "", budget["sentence"], ""]
    for kind in kinds:
        shown += [ranking_table(data, kind), ""]
    shown.append("* best   = tied with it   [95 % interval]   ~ approximate")
    shown += ["¹ share of the returns' variance that it explains", ""]
    shown += [f"- {line}" for line in main["reasons"]]
    if main["remedies"]:
        shown += ["", "What else would help:"]
        shown += [f"- {line}" for line in main["remedies"]]
    shown.append("")
    current = (data["current"] or {}).get("per_sample")
    extras = [data["agreement"], main["to_settle"], current]
    shown += [extra["sentence"] for extra in extras if extra is not None]
    return shown + answer_lines(data)


def facts(data: Data) -> list[tuple[str, str]]:
    """Return what the advice is about, as names and values."""
    decider = data["decided_by"]
    decider = "actor and critic" if decider == "both" else f"{decider}'s gradient"
    return [
        ("env", f"{data['env']}, batch {data['batch']:,}, {decider}"),
        ("learning", f"gamma {data['gamma']:g}, lambda {data['lambda']:g}, seed {data['seed']}"),
    ]


def ranking_table(data: Data, kind: str = "per_sample") -> Table:
    """Return all layouts, best first: what each keeps of the best, and what it would lose."""
    answer = data["advice"][kind]
    word = {"per_sample": "for the same samples", "per_second": "for the same time"}[kind]
    table = Table(title=f"layouts, {word}", title_justify="left", box=None, padding=(0, 1, 0, 0))
    last = "alignment" if kind == "per_sample" else "ms/update"
    heads = ("N x T", "~share of best", "wins", last, "")
    seconds = {one["steps"]: one["seconds"] for one in data["stages"][0]["layouts"]}
    rows = []
    for number, place in enumerate(answer["ranking"]):
        mark = "*" if number == 0 else "=" if place["tied_with_best"] else " "
        own = {
            "per_sample": cell(place["alignment"]),
            "per_second": _milliseconds(seconds[place["steps"]]),
        }
        cells = [cell(place["relative"]), f"{100 * place['win_share']:.0f} %", own[kind]]
        rows.append([f"{place['envs']}x{place['steps']}{mark}", *cells, _remark(place)])
    for word in heads[:-1]:
        table.add_column(word, justify="right", no_wrap=True)
    table.add_column(heads[-1], min_width=longest_word([row[-1] for row in rows]))
    for number, row in enumerate(fitted(heads, rows)):
        table.add_row(*row, style="bold" if number == 0 else "")
    return table


def stage_table(data: Data) -> Table:
    """Return the measured stages: their return, weight, critic and best layout."""
    table = Table(title="stages", title_justify="left", box=None, padding=(0, 1, 0, 0))
    heads = ("stage", "mean return", "weight", "critic¹", "best alignment")
    for word in heads:
        table.add_column(word, justify="left" if word == "stage" else "right", no_wrap=True)
    rows = []
    for stage in data["stages"]:
        best = stage["ranking"][data["objective"]][0]
        own = next(one for one in stage["layouts"] if one["steps"] == best["steps"])
        name = f"{best['envs']}x{best['steps']} {cell(own[data['objective']]['alignment'])}"
        rows.append(
            [
                stage["name"],
                cell(stage["mean_return"]),
                f"{100 * stage['weight']:.0f} %",
                _rounded(stage["critic"]["explained_variance"]),
                name if stage["clear"] else "none clear: left out",
            ]
        )
    for row in fitted(heads, rows):
        table.add_row(*row)
    return table


def budget_table(data: Data) -> Table:
    """Return the best layout of every batch, and what each gets out of the budget."""
    words = {"seconds": "second", "samples": "sample"}
    title = f"batches, by alignment per {words[data['kind']]}"
    table = Table(title=title, title_justify="left", box=None, padding=(0, 2, 0, 0))
    for word in ("batch", "N x T", "~share of best", "updates", "gradient steps"):
        table.add_column(word, justify="right", no_wrap=True)
    for row in data["rows"]:
        mark = "*" if row["batch"] == data["batch"] else " "
        table.add_row(
            f"{row['batch']}{mark}",
            f"{row['envs']}x{row['steps']}",
            cell(row["relative"]),
            f"{row['updates']:,}",
            f"{row['gradient_steps']:,}",
        )
    return table


def answer_lines(data: Data) -> list[str]:
    """Return the answer in a line per sample and a line per second."""
    words = {"per_sample": "per sample", "per_second": "per second"}
    return [f"{words[kind]}: {data['advice'][kind]['sentence']}" for kind in answers_shown(data)]


def change_lines(data: Data) -> list[str]:
    """Return what changes in the user's own settings, in the words of their library."""
    own = next((one for one in data["settings"] if "changes" in one), None)
    if own is None:
        return []
    said = own["paste"] or "nothing changes: it is what you have"
    return f"in {own['library']}: {said}".replace(": ", ":\n", "\n" in said).split("\n")


def answers_shown(data: Data) -> list[str]:
    """Return which of the two answers the user asked for."""
    wanted = {"sample": ["per_sample"], "second": ["per_second"]}.get(
        data["per"], ["per_sample", "per_second"]
    )
    return [kind for kind in wanted if data["advice"][kind] is not None]


def deciding(stages: Sequence[Data]) -> Data:
    """Return the stage with the largest weight, of those that are clear."""
    clear = [stage for stage in stages if stage["clear"]] or list(stages)
    return max(clear, key=lambda stage: stage["weight"])


def _rounded(number: Data) -> str:
    return "-" if number["value"] is None else rounded(number["value"], 2)


def _remark(place: Data) -> str:
    harm = ["harmful"] if place["harmful_at"] else []
    return ", ".join([*harm, *place["defaults_of"][:2]])


def _milliseconds(seconds: Data) -> str:
    if seconds["value"] is None:
        return "-"
    low, value, high = (_short(1000 * seconds[name]) for name in ("low", "value", "high"))
    return f"{value} [{low} {high}]"


def _short(x: float) -> str:
    return f"{x:.0f}" if x >= 100 else f"{x:.3g}"
