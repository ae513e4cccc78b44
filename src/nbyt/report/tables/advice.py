"""An advice as tables and lines for a terminal of 80 columns, from the data of the JSON output."""

from msgspec import UNSET
from rich.console import RenderableType
from rich.table import Table

from nbyt.report.numbers import cell, known, layout_name
from nbyt.report.tables import filled
from nbyt.results.advice import Advice, Answer, Budget, RankedLayout
from nbyt.results.sweep import KINDS
from nbyt.results.values import Kind, Number
from nbyt.stats.estimate import rounded


def summary(data: Advice) -> list[RenderableType]:
    """Return the tables and sentences that `nbyt advise` prints."""
    kinds = answers_shown(data)
    main, budget = _answer(data, kinds[0]), data.budget
    shown: list[RenderableType] = [stage_table(data), ""]
    if isinstance(budget, Budget):
        shown += [budget_table(budget), "", budget.sentence, ""]
    for kind in kinds:
        shown += [ranking_table(data, kind), ""]
    shown.append("* best   = tied with it   [95 % interval]   ~ approximate")
    shown += ["¹ share of the returns' variance that it explains", ""]
    shown += [f"- {line}" for line in main.reasons]
    if main.remedies:
        shown += ["", "What else would help:"]
        shown += [f"- {line}" for line in main.remedies]
    shown.append("")
    current = data.current.per_sample if data.current else None
    extras = [data.agreement, main.to_settle, current]
    shown += [extra.sentence for extra in extras if extra is not None]
    return shown + answer_lines(data)


def facts(data: Advice) -> list[tuple[str, str]]:
    """Return what the advice is about, as names and values."""
    both = data.decided_by == "both"
    decider = "actor and critic" if both else f"{data.decided_by}'s gradient"
    return [
        ("env", f"{data.env}, batch {data.batch:,}, {decider}"),
        ("learning", f"gamma {data.gamma:g}, lambda {data.lam:g}, seed {data.seed}"),
    ]


def ranking_table(data: Advice, kind: Kind = "per_sample") -> Table:
    """Return all layouts, best first: what each keeps of the best, and what it would lose."""
    answer = _answer(data, kind)
    word = "for the same samples" if kind == "per_sample" else "for the same time"
    last = "alignment" if kind == "per_sample" else "ms/update"
    heads = ("N x T", "~share of best", "wins", last, "")
    seconds = {one.steps: one.seconds for one in data.stages[0].layouts}
    rows = []
    for number, place in enumerate(answer.ranking):
        mark = "*" if number == 0 else "=" if place.tied_with_best else " "
        own = cell(place.alignment)
        if kind == "per_second":
            own = _milliseconds(seconds[place.steps])
        cells = [cell(place.relative), f"{100 * place.win_share:.0f} %", own]
        rows.append([f"{layout_name(place)}{mark}", *cells, _remark(place)])
    return filled(f"layouts, {word}", heads, rows)


def stage_table(data: Advice) -> Table:
    """Return the measured stages: their return, weight, critic and best layout."""
    heads = ("stage", "mean return", "weight", "critic¹", "best alignment")
    rows = []
    for stage in data.stages:
        best = stage.ranking.of(data.objective)[0]
        own = next(one for one in stage.layouts if one.steps == best.steps)
        name = f"{layout_name(best)} {cell(own.of(data.objective).alignment)}"
        rows.append(
            [
                stage.name,
                cell(stage.mean_return),
                f"{100 * stage.weight:.0f} %",
                _rounded(stage.critic.explained_variance),
                name if stage.clear else "none clear: left out",
            ]
        )
    return filled("stages", heads, rows)


def budget_table(data: Budget) -> Table:
    """Return the best layout of every batch, and what each gets out of the budget."""
    words = {"seconds": "second", "samples": "sample"}
    title = f"batches, by alignment per {words[data.kind]}"
    heads = ("batch", "N x T", "~share of best", "updates", "gradient steps")
    rows = [
        [
            f"{row.batch}{'*' if row.batch == data.batch else ' '}",
            layout_name(row),
            cell(row.relative),
            f"{row.updates:,}",
            f"{row.gradient_steps:,}",
        ]
        for row in data.rows
    ]
    return filled(title, heads, rows, padding=2)


def answer_lines(data: Advice) -> list[str]:
    """Return the answer in a line per sample and a line per second."""
    kinds = answers_shown(data)
    return [f"{kind.replace('_', ' ')}: {_answer(data, kind).sentence}" for kind in kinds]


def change_lines(data: Advice) -> list[str]:
    """Return what changes in the user's own settings, in the words of their library."""
    own = next((one for one in data.settings if one.changes is not UNSET), None)
    if own is None:
        return []
    said = own.paste or "nothing changes: it is what you have"
    return f"in {own.library}: {said}".replace(": ", ":\n", "\n" in said).split("\n")


def answers_shown(data: Advice) -> list[Kind]:
    """Return which of the two answers the user asked for."""
    return [
        kind
        for kind in KINDS
        if data.per in ("both", kind.removeprefix("per_")) and data.advice.of(kind) is not None
    ]


def _answer(data: Advice, kind: Kind) -> Answer:
    answer = data.advice.of(kind)
    assert answer is not None, "only answers that were given are shown"
    return answer


def _rounded(number: Number) -> str:
    return "-" if number.value is None else rounded(number.value, 2)


def _remark(place: RankedLayout) -> str:
    harm = ["harmful"] if place.harmful_at else []
    return ", ".join([*harm, *place.defaults_of[:2]])


def _milliseconds(seconds: Number) -> str:
    if not known(seconds):
        return "-"
    low, value, high = (_short(1000 * x) for x in (seconds.low, seconds.value, seconds.high))
    return f"{value} [{low} {high}]"


def _short(x: float) -> str:
    return f"{x:.0f}" if x >= 100 else f"{x:.3g}"
