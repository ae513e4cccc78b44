"""A measurement as tables for a terminal of 80 columns."""

from collections.abc import Sequence
from typing import Literal

from rich.table import Table
from rich.text import Text

from nbyt.report.numbers import (
    both,
    cell,
    divided,
    fitted,
    has_value,
    known,
    layout_name,
    power_of_ten,
)
from nbyt.report.tables import filled
from nbyt.results.measurement import (
    ControlRow,
    Gradient,
    Lags,
    LayoutSources,
    MeasuredLayout,
    Measurement,
)
from nbyt.results.values import OBJECTIVES, Estimate, Number, Objective
from nbyt.stats.estimate import rounded

_SHOWN = ("individual", "covariance", "variance", "ess_ratio", "bias_sq", "alignment")


def control_table(rows: Sequence[ControlRow]) -> Table:
    """Build a row for each number: measured, exact, and whether the interval holds it."""
    table = Table(box=None, padding=(0, 1))
    for word in ("N x T", "gradient", "number", "measured [95 %]", "exact", ""):
        table.add_column(word, justify="right" if word in ("N x T", "exact") else "left")
    last = None
    for row in (row for row in rows if row.number in _SHOWN):
        inside = Text("inside", "green") if row.inside else Text("outside", "yellow")
        if row.inside is None:
            inside = Text("-")
        exact = "-" if row.exact is None else f"{row.exact:.4g}"
        place = (layout_name(row), row.gradient)
        shown = place if place != last else ("", "")
        table.add_row(*shown, row.number, both(row.measured), exact, inside)
        last = place
    return table


_VARIANCES = ("variance", "individual", "covariance")
_DIRECTION = {
    "alignment": "alignment",
    "cosine": "cosine",
    "noise_factor": "noise factor",
    "bias_sq": "bias²",
}
_NOISE = {
    "variance": "variance",
    "individual": "= individual",
    "covariance": "+ covariance",
    "ess_ratio": "ESS/NT",
}
_COLUMNS = {**_DIRECTION, **_NOISE}


def overview_table(data: Measurement) -> Table:
    """Show what matters most of every layout: where its gradients point, what a sample is worth."""
    layouts = [one for one in data.layouts if one.lam == data.lam]
    pairs: list[tuple[Objective, str]] = [
        (objective, name)
        for objective in ("actor", "critic")
        for name in ("alignment", "ess_ratio")
    ]
    heads = ["N x T", *(f"{objective}\n{_COLUMNS[name]}" for objective, name in pairs)]
    marks, rows = _marks(data, "actor"), []
    for one in layouts:
        mark = marks.get((one.envs, one.steps), " ")
        cells = [cell(one.of(objective).of(name)) for objective, name in pairs]
        rows.append([f"{layout_name(one)}{mark}", *cells])
    return filled("", heads, rows)


def direction_table(data: Measurement, objective: Objective) -> Table:
    """Show where one gradient points, under every layout at the first lambda."""
    return _table(data, objective, _DIRECTION, f"{objective}: does it point the right way?")


def noise_table(data: Measurement, objective: Objective) -> Table:
    """Show how much one gradient scatters, under every layout at the first lambda."""
    return _table(data, objective, _NOISE, f"{objective}: how much does it scatter?")


def _table(data: Measurement, objective: Objective, columns: dict[str, str], title: str) -> Table:
    layouts = [one for one in data.layouts if one.lam == data.lam]
    powers = _powers(layouts, objective)
    heads = ["N x T"]
    for name, word in columns.items():
        unit = f"\n1e{powers[name]}" if powers[name] else ""
        mark = "~" if any(one.of(objective).of(name).approximate for one in layouts) else ""
        heads.append(mark + word + unit)
    marks, rows = _marks(data, objective), []
    for one in layouts:
        mark = marks.get((one.envs, one.steps), " ")
        cells = [cell(one.of(objective).of(column), powers[column]) for column in columns]
        rows.append([f"{layout_name(one)}{mark}", *cells])
    return filled(title, heads, rows)


def reasons(data: Measurement) -> list[str]:
    """List the reasons for dashes in the tables, each once."""
    found: dict[str, dict[str, None]] = {}
    for one in data.layouts:
        for objective in OBJECTIVES:
            for name in Gradient.__struct_fields__:
                if name in _COLUMNS and (number := one.of(objective).of(name)).value is None:
                    places = found.setdefault(number.why or "no reason given", {})
                    places[f"{objective} {_COLUMNS[name]}"] = None
    return [f"- {', '.join(places)}: {reason}" for reason, places in found.items()]


def verdict(data: Measurement, objective: Objective) -> str:
    """Name the best layout for one gradient, and those tied with it."""
    ranking = [row for row in data.ranking.of(objective) if row.lam == data.lam]
    best, *rest = ranking
    ties = [layout_name(row) for row in rest if row.tied_with_best]
    if best.regret.value is None:
        return f"{objective}: no layout's gradient points the right way"
    name = layout_name(best)
    if not ties:
        return f"{objective}: {name} is best, clearly ahead of all others"
    if len(ties) == len(rest):
        return f"{objective}: no measurable difference between the layouts"
    return f"{objective}: {name} looks best; tied with it: {', '.join(ties)}"


def surface_table(data: Measurement, objective: Objective = "actor") -> Table:
    """Show alignment over T and lambda: a shorter T and a lower lambda do similar things."""
    table = Table(title=f"{objective}'s alignment by T and lambda", title_justify="left", box=None)
    for head in ("N x T", *(f"lambda {lam:g}" for lam in data.lambdas)):
        table.add_column(head, justify="right")
    for steps in dict.fromkeys(one.steps for one in data.layouts):
        row = [one for one in data.layouts if one.steps == steps]
        cells = [cell(one.of(objective).alignment) for one in row]
        table.add_row(layout_name(row[0]), *cells)
    return table


def lag_table(data: Measurement) -> Table:
    """Show correlations of contributions by their lag, and across chains at one time."""
    table = Table(title="correlation of contributions", title_justify="left", box=None)
    named = {"actor": data.lags.actor, "critic": data.lags.critic, "total": data.lags.total}
    profiles = {name: lags for name, lags in named.items() if isinstance(lags, Lags)}
    heads = ["steps apart", *profiles]
    for head in heads:
        table.add_column(head, justify="right")
    rows = [
        [lag, *(both(profile.within[lag]) for profile in profiles.values())]
        for lag in data.lags.actor.within
    ]
    rows.append(["other chains", *(both(profile.across) for profile in profiles.values())])
    for row in fitted(heads, rows, padding=2):
        table.add_row(*row)
    return table


def phase_table(data: Measurement) -> Table | None:
    """Show the variance that synchronised starts add; more envs do not remove it."""
    layouts = [one for one in data.layouts if isinstance(one.actor.phase, Estimate)]
    if not layouts:
        return None
    title = "variance that synchronised starts add, as a multiple of V/N"
    table = Table(title=title, title_justify="left", box=None)
    for name in ("N x T", *OBJECTIVES):
        table.add_column(name, justify="right")
    for one in layouts:
        if has_value(one.actor.phase):
            table.add_row(layout_name(one), *(_relative(one.of(name)) for name in OBJECTIVES))
    return table


def source_table(layout: LayoutSources, objective: Literal["actor", "critic"]) -> Table:
    """Show the sources of one layout's noise, in shares of the variance."""
    title = f"{objective}: sources of the variance at {layout_name(layout)}"
    table = Table(title=title, title_justify="left", box=None)
    for word in ("source", "share of the variance", "what it is"):
        table.add_column(word, justify="right" if word.startswith("share") else "left")
    sources = layout.of(objective)
    for name, words in _SOURCES.items():
        share = divided(getattr(sources, name), sources.variance)
        table.add_row(name.replace("_", " "), _share(share), words)
    return table


_SOURCES = {
    "sampling": "which states and actions were visited",
    "own_step": "the env's answer to the action itself",
    "credit": "later luck credited to earlier actions",
    "coupling": "luck that also decides what is visited",
}


def _share(share: Number) -> str:
    if not known(share):
        return "-"
    low, high = (rounded(100 * bound, 0) for bound in (share.low, share.high))
    bounds = "" if share.low == share.high else f" [{low}..{high}]"
    return f"{rounded(100 * share.value, 1)} %{bounds}"


def _relative(gradient: Gradient) -> str:
    part = gradient.phase
    return cell(divided(part, gradient.variance)) if isinstance(part, Estimate) else "-"


def _marks(data: Measurement, objective: Objective) -> dict[tuple[int, int], str]:
    """Return a star for the best layout, = for those tied with it."""
    rows = [row for row in data.ranking.of(objective) if row.lam == data.lam]
    if rows[0].regret.value is None:
        return {}
    marks = {(row.envs, row.steps): "=" for row in rows if row.tied_with_best}
    return {**marks, (rows[0].envs, rows[0].steps): "*"}


def _powers(layouts: Sequence[MeasuredLayout], objective: Objective) -> dict[str, int]:
    powers = {
        name: power_of_ten([one.of(objective).of(name) for one in layouts]) for name in _COLUMNS
    }
    return {**powers, **dict.fromkeys(_VARIANCES, powers["variance"])}
