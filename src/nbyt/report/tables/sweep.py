"""A sweep as a table and lines for a terminal of 80 columns; takes the plain data."""

from rich.table import Table

from nbyt.report.numbers import both, cell, fitted, longest_word, percent
from nbyt.results.values import Data

_KINDS = {"per_sample": "per sample", "per_second": "per second"}
_HEADS = ("N x T", "over training", "at the end", "same time", "")
_MOST_FAILURES = 8
_MOST_DEFAULTS = 3


def layout_table(data: Data) -> Table:
    """Every layout by its T: what its trainings reached, for the same samples and the same time."""
    seeds = len(data["seeds"])
    word = "seed" if seeds == 1 else "seeds"
    title = f"returns, the middle half of {seeds} {word} (IQM); * best, = cannot be told apart"
    table = Table(title=title, title_justify="left", box=None, padding=(0, 1, 0, 0))
    rows = fitted(_HEADS, [_row(data, layout) for layout in data["layouts"]])
    for word in _HEADS[:-1]:
        table.add_column(word, justify="right", no_wrap=True)
    table.add_column(_HEADS[-1], min_width=longest_word([row[-1] for row in rows]))
    for row in rows:
        table.add_row(*row, style="bold" if row[0].endswith("*") else "")
    return table


def sweep_lines(data: Data) -> list[str]:
    """What came out: the best layout, the advice beside it, and the libraries' defaults."""
    found = {kind: data["answer"][kind] for kind in _KINDS}
    lines = [f"{_KINDS[kind]}: {_answer(one)}" for kind, one in found.items() if one]
    if not lines:
        return ["No training was finished, so there is nothing to compare."]
    return [*lines, *_advice_lines(data), *_default_lines(data)]


def failure_lines(data: Data) -> list[str]:
    """A line for each cell that failed, as far as a terminal bears it; and how many are missing."""
    failures = data["failures"]
    lines = [
        f"{one['envs']}x{one['steps']} seed {one['seed']} failed: {last_line(one['message'])}"
        + (f" ({one['where']})" if one["where"] else "")
        for one in failures[:_MOST_FAILURES]
    ]
    if len(failures) > _MOST_FAILURES:
        lines.append(f"{len(failures) - _MOST_FAILURES} more failed; the page names all of them")
    missing = sum(one["seeds"]["missing"] for one in data["layouts"])
    return lines + ([f"{missing} trainings are missing"] if missing else [])


def last_line(message: str) -> str:
    """What an error says in the end; a trace of the env's own code comes before it."""
    lines = [line for line in message.strip().splitlines() if line.strip()]
    return lines[-1].strip() if lines else "for no reason that is known"


def _row(data: Data, layout: Data) -> list[str]:
    samples, seconds = layout["per_sample"], layout["per_second"]
    own = layout["steps"] == (data["answer"]["per_sample"] or {}).get("steps")
    mark = "*" if own else "=" if samples["tied_with_best"] else " "
    return [
        f"{layout['envs']}x{layout['steps']}{mark}",
        cell(samples["over_training"]),
        cell(samples["final"]),
        cell(seconds["over_training"]) if seconds else "-",
        _remark(data, layout),
    ]


def _answer(one: Data) -> str:
    unsettled = one["to_settle"]
    return f"{one['sentence']} {unsettled['sentence']}" if unsettled else one["sentence"]


def _remark(data: Data, layout: Data) -> str:
    """What is special: seeds that are not there, the advice, a library's default."""
    finished, wanted = len(layout["seeds"]["finished"]), len(data["seeds"])
    seeds = [f"{finished} of {wanted} seeds"] if finished < wanted else []
    advised = ["advised"] if _advised(data, "per_sample", layout) else []
    return ", ".join([*seeds, *advised, *layout["defaults_of"][:2]])


def _advised(data: Data, kind: str, layout: Data) -> bool:
    advice = (data["advice"] or {}).get(kind)
    return advice is not None and (advice["envs"], advice["steps"]) == (
        layout["envs"],
        layout["steps"],
    )


def _advice_lines(data: Data) -> list[str]:
    lines = []
    for kind, word in _KINDS.items():
        one = (data["advice"] or {}).get(kind)
        if one is None:
            continue
        name = f"{one['envs']}x{one['steps']}"
        lost = one["regret_share"] or {"value": None}
        if one["is_best"]:
            said = "which is the best"
        elif lost["value"] is None:
            said = "what it loses cannot be told"
        else:
            seen = "" if (lost["low"] or 0) > 0 else ", which may be none"
            said = f"which loses {percent(lost)} of what the best layout learned{seen}"
        order = both(one["correlation"])
        lines.append(f"advice {word}: {name}, {said}; rank correlation {order}.")
    return lines


def _default_lines(data: Data) -> list[str]:
    """How the best layout does against the defaults of the libraries with most users."""
    found: dict[int, list[str]] = {}
    for one in data["defaults"]:
        found.setdefault(one["placed_at"][1], []).append(one["library"])
    layouts = {one["steps"]: one for one in data["layouts"]}
    lines = []
    for steps, names in list(found.items())[:_MOST_DEFAULTS]:
        own = layouts[steps]
        number, name = own["per_sample"]["best_wins"], f"{own['envs']}x{steps}"
        libraries = ", ".join(dict.fromkeys(names[:2]))
        if number is None:
            lines.append(f"T nearest to the default of {libraries}: {name}, the best itself.")
        elif number["value"] is None:
            lines.append(f"T nearest to the default of {libraries}: {name}; no seed is finished.")
        else:
            said = f"the best beats it with probability {both(number)}"
            lines.append(f"T nearest to the default of {libraries}: {name}; {said}.")
    return lines
