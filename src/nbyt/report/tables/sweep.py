"""A sweep as a table and lines for a terminal of 80 columns."""

from rich.table import Table

from nbyt.report.numbers import both, cell, percent
from nbyt.report.tables import filled
from nbyt.results.sweep import AdviceComparison, Sweep, SweptLayout, Verdict
from nbyt.results.values import Kind

_KINDS: dict[Kind, str] = {"per_sample": "per sample", "per_second": "per second"}
_HEADS = ("N x T", "over training", "at the end", "same time", "")
_MOST_FAILURES = 8
_MOST_DEFAULTS = 3


def layout_table(sweep: Sweep) -> Table:
    """Show every layout by its T, and what it reached for the same samples and the same time."""
    seeds = len(sweep.seeds)
    word = "seed" if seeds == 1 else "seeds"
    marks = "" if _is_open(sweep) else "; * best, = tied with it"
    title = f"returns, the middle half of {seeds} {word} (IQM){marks}"
    return filled(title, _HEADS, [_row(sweep, layout) for layout in sweep.layouts])


def sweep_lines(sweep: Sweep) -> list[str]:
    """Say what came out: the best layout, the advice, and the libraries' defaults."""
    verdicts = {kind: sweep.answer.of(kind) for kind in _KINDS}
    lines = [f"{_KINDS[kind]}: {_verdict(best)}" for kind, best in verdicts.items() if best]
    if not lines:
        return ["No training was finished, so there is nothing to compare."]
    return [*lines, *_advice_lines(sweep), *_default_lines(sweep)]


def failure_lines(sweep: Sweep) -> list[str]:
    """List the first cells that failed, and how many are missing."""
    failures = sweep.failures
    lines = [
        f"{one.envs}x{one.steps} seed {one.seed} failed: {last_line(one.message)}"
        + (f" ({one.where})" if one.where else "")
        for one in failures[:_MOST_FAILURES]
    ]
    if len(failures) > _MOST_FAILURES:
        lines.append(f"{len(failures) - _MOST_FAILURES} more failed; the page names all of them")
    missing = sum(layout.seeds.missing for layout in sweep.layouts)
    return lines + ([f"{missing} trainings are missing"] if missing else [])


def last_line(message: str) -> str:
    """Return the last line of an error; a trace of the env's own code comes before it."""
    lines = [line for line in message.strip().splitlines() if line.strip()]
    return lines[-1].strip() if lines else "for an unknown reason"


def _row(sweep: Sweep, layout: SweptLayout) -> list[str]:
    samples, seconds, best = layout.per_sample, layout.per_second, sweep.answer.per_sample
    is_best = best is not None and layout.steps == best.steps
    mark = "*" if is_best else "=" if samples.tied_with_best else " "
    mark = " " if _is_open(sweep) else mark
    return [
        f"{layout.name}{mark}",
        cell(samples.over_training),
        cell(samples.final),
        cell(seconds.over_training) if seconds else "-",
        _remark(sweep, layout),
    ]


def _is_open(sweep: Sweep) -> bool:
    return sweep.answer.per_sample is not None and sweep.answer.per_sample.is_open


def _verdict(best: Verdict) -> str:
    return f"{best.sentence} {best.to_settle.sentence}" if best.to_settle else best.sentence


def _remark(sweep: Sweep, layout: SweptLayout) -> str:
    """Say what is special: missing seeds, the advice, a library's default."""
    finished, wanted = len(layout.seeds.finished), len(sweep.seeds)
    seeds = [f"{finished} of {wanted} seeds"] if finished < wanted else []
    advice = sweep.advice.per_sample if sweep.advice else None
    split = (layout.envs, layout.steps)
    advised = ["advised"] if advice and (advice.envs, advice.steps) == split else []
    return ", ".join([*seeds, *advised, *layout.defaults_of[:2]])


def _advice_lines(sweep: Sweep) -> list[str]:
    advised = {kind: sweep.advice and sweep.advice.of(kind) for kind in _KINDS}
    return [f"advice {_KINDS[kind]}: {_advice(one)}" for kind, one in advised.items() if one]


def _advice(advised: AdviceComparison) -> str:
    lost = advised.regret_share
    if advised.is_best:
        result = "which is the best"
    elif lost is None or lost.value is None:
        result = "what it loses is undetermined"
    else:
        unsure = "" if (lost.low or 0) > 0 else ", which may be none"
        result = f"which loses {percent(lost)} of what the best layout learned{unsure}"
    order = both(advised.correlation)
    return f"{advised.envs}x{advised.steps}, {result}; rank correlation {order}."


def _default_lines(sweep: Sweep) -> list[str]:
    """Compare the best layout, if there is one, with the defaults of the most used libraries."""
    if _is_open(sweep):
        return []
    nearest: dict[int, list[str]] = {}
    for library in sweep.defaults:
        nearest.setdefault(library.placed_at[1], []).append(library.library)
    layouts = {layout.steps: layout for layout in sweep.layouts}
    lines = []
    for steps, names in list(nearest.items())[:_MOST_DEFAULTS]:
        layout, wins = layouts[steps], layouts[steps].per_sample.best_wins
        line = f"T nearest to the default of {', '.join(dict.fromkeys(names[:2]))}: {layout.name}"
        if wins is None:
            lines.append(f"{line}, the best itself.")
        elif wins.value is None:
            lines.append(f"{line}; no seed is finished.")
        else:
            lines.append(f"{line}; the best beats it with probability {both(wins)}.")
    return lines
