"""A measurement as tables for a terminal of 80 columns, from the data of the JSON output."""

from rich.table import Table
from rich.text import Text

from nbyt.report.numbers import both, cell, fitted, layout_name, power_of_ten
from nbyt.results.values import Data
from nbyt.stats.estimate import rounded

_SHOWN = ("individual", "covariance", "variance", "ess_ratio", "bias_sq", "alignment")


def control_table(rows: list[Data]) -> Table:
    """Build a row for each number: measured, exact, and whether the interval holds it."""
    table = Table(box=None, padding=(0, 1))
    for word in ("N x T", "gradient", "number", "measured [95 %]", "exact", ""):
        table.add_column(word, justify="right" if word in ("N x T", "exact") else "left")
    last = None
    for row in (row for row in rows if row["number"] in _SHOWN):
        name = layout_name(row)
        inside = Text("inside", "green") if row["inside"] else Text("outside", "yellow")
        if row["inside"] is None:
            inside = Text("-")
        exact = "-" if row["exact"] is None else f"{row['exact']:.4g}"
        place = (name, row["gradient"])
        shown = (name, row["gradient"]) if place != last else ("", "")
        table.add_row(*shown, row["number"], both(row["measured"]), exact, inside)
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


def direction_table(data: Data, objective: str) -> Table:
    """Show where one gradient points, under every layout at the first lambda."""
    return _table(data, objective, _DIRECTION, f"{objective}: does it point the right way?")


def noise_table(data: Data, objective: str) -> Table:
    """Show how much one gradient scatters, under every layout at the first lambda."""
    return _table(data, objective, _NOISE, f"{objective}: how much does it scatter?")


def _table(data: Data, objective: str, columns: dict[str, str], title: str) -> Table:
    layouts = [one for one in data["layouts"] if one["lambda"] == data["lambda"]]
    powers = _powers(layouts, objective)
    table = Table(title=title, title_justify="left", box=None, padding=(0, 1, 0, 0))
    heads = ["N x T"]
    for name, word in columns.items():
        unit = f"\n1e{powers[name]}" if powers[name] else ""
        mark = "~" if any(one[objective][name].get("approximate") for one in layouts) else ""
        heads.append(mark + word + unit)
    for head in heads:
        table.add_column(head, justify="right", no_wrap=True)
    marks, rows = _marks(data, objective), []
    for one in layouts:
        mark = marks.get((one["envs"], one["steps"]), " ")
        cells = [cell(one[objective][column], powers[column]) for column in columns]
        rows.append([f"{one['envs']}x{one['steps']}{mark}", *cells])
    for row in fitted(heads, rows):
        table.add_row(*row, style="bold" if row[0].endswith("*") else "")
    return table


def reasons(data: Data) -> list[str]:
    """List the reasons for dashes in the tables, each once."""
    found: dict[str, list[str]] = {}
    for one in data["layouts"]:
        for objective in ("actor", "critic", "total"):
            for name, number in one[objective].items():
                if name in _COLUMNS and number["value"] is None:
                    key = number.get("reason", "no reason given")
                    place = f"{objective} {_COLUMNS[name]}"
                    found.setdefault(key, [])
                    if place not in found[key]:
                        found[key].append(place)
    return [f"- {', '.join(places)}: {reason}" for reason, places in found.items()]


def verdict(data: Data, objective: str) -> str:
    """Name the best layout for one gradient, and those tied with it."""
    ranking = [row for row in data["ranking"][objective] if row["lambda"] == data["lambda"]]
    best, *rest = ranking
    ties = [layout_name(row) for row in rest if row["tied_with_best"]]
    if best["regret"]["value"] is None:
        return f"{objective}: no layout's gradient points the right way"
    name = layout_name(best)
    if not ties:
        return f"{objective}: {name} is best, and the data tell it apart from all others"
    if len(ties) == len(rest):
        return f"{objective}: no measurable difference between the layouts"
    return f"{objective}: {name} looks best; tied with it: {', '.join(ties)}"


def surface_table(data: Data, objective: str = "actor") -> Table:
    """Show alignment over T and lambda: a shorter T and a lower lambda do similar things."""
    table = Table(title=f"{objective}'s alignment by T and lambda", title_justify="left", box=None)
    table.add_column("N x T", justify="right")
    for lam in data["lambdas"]:
        table.add_column(f"lambda {lam:g}", justify="right")
    for steps in dict.fromkeys(one["steps"] for one in data["layouts"]):
        row = [one for one in data["layouts"] if one["steps"] == steps]
        cells = [cell(one[objective]["alignment"]) for one in row]
        table.add_row(f"{row[0]['envs']}x{steps}", *cells)
    return table


def lag_table(data: Data) -> Table:
    """Show correlations of contributions by their lag, and across chains at one time."""
    table = Table(title="correlation of contributions", title_justify="left", box=None)
    profiles = data["lags"]
    first = next(iter(profiles.values()))
    heads = ["steps apart", *profiles]
    for head in heads:
        table.add_column(head, justify="right")
    rows = [
        [lag, *(both(profile["within"][lag]) for profile in profiles.values())]
        for lag in first["within"]
    ]
    rows.append(["other chains", *(both(profile["across"]) for profile in profiles.values())])
    for row in fitted(heads, rows, padding=2):
        table.add_row(*row)
    return table


def phase_table(data: Data) -> Table | None:
    """Show the variance that synchronised starts add; more envs do not remove it."""
    layouts = [one for one in data["layouts"] if "phase" in one["actor"]]
    if not layouts:
        return None
    table = Table(
        title="variance that synchronised starts add, as a multiple of V/N",
        title_justify="left",
        box=None,
    )
    table.add_column("N x T", justify="right")
    for name in ("actor", "critic", "total"):
        table.add_column(name, justify="right")
    for one in layouts:
        if one["actor"]["phase"]["value"] is None:
            continue
        cells = [_relative(one[name]) for name in ("actor", "critic", "total")]
        table.add_row(layout_name(one), *cells)
    return table


def source_table(layout: Data, objective: str) -> Table:
    """Show the sources of one layout's noise, in shares of the variance."""
    title = f"{objective}: sources of the variance at {layout['envs']}x{layout['steps']}"
    table = Table(title=title, title_justify="left", box=None)
    for word in ("source", "share of the variance", "what it is"):
        table.add_column(word, justify="right" if word.startswith("share") else "left")
    whole = layout[objective]["variance"]["value"]
    for name, words in _SOURCES.items():
        table.add_row(name.replace("_", " "), _share(layout[objective][name], whole), words)
    return table


_SOURCES = {
    "sampling": "which states and actions were visited",
    "own_step": "the env's answer to the action itself",
    "credit": "later luck credited to earlier actions",
    "coupling": "luck that also decides what is visited",
}


def _share(number: Data, whole: float) -> str:
    if number["value"] is None or not whole:
        return "-"
    low, high = (number[bound] for bound in ("low", "high"))
    low, high = (rounded(100 * bound / whole, 0) for bound in (low, high))
    bounds = "" if number["low"] == number["high"] else f" [{low}..{high}]"
    return f"{rounded(100 * number['value'] / whole, 1)} %{bounds}"


def _relative(gradient: Data) -> str:
    whole, part = gradient["variance"]["value"], gradient["phase"]
    if not whole or part["value"] is None:
        return "-"
    scaled = {key: part[key] / whole for key in ("value", "low", "high")}
    return cell(scaled)


def _marks(data: Data, objective: str) -> dict[tuple[int, int], str]:
    """Return a star for the best layout, = for those tied with it."""
    rows = [row for row in data["ranking"][objective] if row["lambda"] == data["lambda"]]
    if rows[0]["regret"]["value"] is None:
        return {}
    marks = {(row["envs"], row["steps"]): "=" for row in rows if row["tied_with_best"]}
    return {**marks, (rows[0]["envs"], rows[0]["steps"]): "*"}


def _powers(layouts: list[Data], objective: str) -> dict[str, int]:
    powers = {name: power_of_ten([one[objective][name] for one in layouts]) for name in _COLUMNS}
    return {**powers, **dict.fromkeys(_VARIANCES, powers["variance"])}
