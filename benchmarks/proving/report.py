"""docs/proving-ground.md and its drawings from result.json; every number comes from that file.

python -m benchmarks.proving.report [RESULT.json]
"""

import json
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks.proving import figure
from benchmarks.proving.external import RESULT as EXTERNAL
from benchmarks.proving.fallback import RESULT as FALLBACK
from benchmarks.proving.live import RESULT as LIVE
from nbyt.store.atomic import write_text

RESULT = Path(__file__).with_name("result.json")
DOCS = Path(__file__).parents[2] / "docs"
PAGE = DOCS / "proving-ground.md"
README = DOCS.parent / "README.md"
_TEXT = Path(__file__).with_name("page.md")

NAMES = {
    "samples": "equal samples",
    "measured": "equal time, this machine",
    "parallel:4": "equal time, T + 4",
    "parallel:16": "equal time, T + 16",
    "parallel:64": "equal time, T + 64",
}
BUDGETS = ("1", "2", "4", "8")
# The sources of the external checks, and what they report.
_SOURCES = {
    "mountain-car": (
        "ARENA 3.0, pull request 398:",
        "MountainCar at T about 64: 2,048 envs never reach the flag in 30M steps, 16 envs do. Here "
        "fewer steps, four mini-batches an epoch; `reached` is the share of points at which the "
        "mean return is above -200. MountainCar is a sealed env; this check has other "
        "settings than its cells, and nothing was learnt from it.",
    ),
    "wide-minatar": (
        "Mayor et al., arXiv 2506.03404:",
        "on ten Atari games at B = 1,024, 128 x 8 beats 8 x 128. Here two games of MinAtar.",
    ),
    "staggered": (
        "Staggered resets, arXiv 2511.21011:",
        "with a fixed episode length and short T, envs that all start together stop gaining near "
        "N = 1,024. Here Pendulum (episodes of 200 steps) at equal vector steps.",
    ),
    "arlbench": (
        "ARLBench (automl/arlbench, branch experiments):",
        "curves of 256 settings of PPO with ten seeds each, which nobody here made. Rank "
        "correlation over settings between what the first part of one or five trainings promises "
        "and the score of the other seeds.",
    ),
}
Result = dict[str, Any]


def main() -> None:
    """Write the page and the drawings."""
    source = Path(sys.argv[1]) if len(sys.argv) > 1 else RESULT
    result = json.loads(source.read_text())
    write_text(DOCS / "drawings" / "proving-landscapes.svg", figure.landscapes(result))
    write_text(DOCS / "drawings" / "proving-costs.svg", figure.costs(result))
    write_text(PAGE, page(result))
    write_text(README, in_readme(README.read_text(), result))
    print(f"written to {PAGE} and {README}")


_BEGIN, _END = "<!-- from benchmarks.proving.report -->", "<!-- to here -->"


def in_readme(text: str, result: Result) -> str:
    """The README with its tables filled in."""
    before, _, rest = text.partition(_BEGIN)
    after = rest.partition(_END)[2]
    return f"{before}{_BEGIN}\n{track(result)}\n{_END}{after}"


_SHORT_STEPS = (2, 8, 32, 128, 512, 2048)
_IN_README = {
    "samples": "for the same samples",
    "parallel:16": "for the same time, envs side by side (T + 16)",
}


def track(result: Result) -> str:
    """What a T loses on average, and what ways of choosing lose, in two small tables."""
    lines = [_row(["", *(f"T={t}" for t in _SHORT_STEPS)]), _row(["---"] * 7)]
    for objective, words in _IN_README.items():
        losses = [_at(result, objective, t) for t in _SHORT_STEPS]
        shown = [f"**{_percent(x)}**" if x == min(losses) else _percent(x) for x in losses]
        lines.append(_row([words, *shown]))
    head = ["at equal time (T + 16)", "one T for all tasks, free", "race, four trainings"]
    lines += ["", _row([*head, "best search at that cost"]), _row(["---"] * 4)]
    for which, words in (("rivals", "each left out in turn"), ("rivals_sealed", "sealed")):
        ways = result[which]
        if not ways:
            continue
        found = ways["race"]["parallel:16"]["4"]
        name = _best_search_name(ways, "parallel:16", "4")
        cells_of = [ways["constant"]["parallel:16"]["0"], found, ways[name]["parallel:16"]["4"]]
        shown = [_interval(one["loss"]) for one in cells_of]
        lines.append(_row([f"{found['envs']} envs, {words}", *shown[:2], f"{shown[2]}: {name}"]))
    return "\n".join(lines)


def page(result: Result) -> str:
    """The text with its tables filled in."""
    parts = {
        "verdict": verdict(result),
        "constants": constants(result),
        "rivals": rivals(result, "rivals"),
        "sealed": sealed(result),
        "groups": groups(result),
        "aims": aims(result["rivals"]),
        "calibration": calibrated(result["calibration"]),
        "deciding": deciding(result),
        "worse": worse_than_constant(result),
        "calibration_aims": calibration_aims(result["calibration"]),
        "carried": carried(result),
        "expected": expected(result),
        "own_returns": own_returns(result),
        "batches": batches(result),
        "stagger": staggered(result),
        "stagger_races": stagger_races(result),
        "power": f"{result['power']:g}" if "power" in result else "",
        "cells": cells(result),
        "dropped": dropped(result),
        "external": external(json.loads(EXTERNAL.read_text()) if EXTERNAL.exists() else {}),
        "live": live(json.loads(LIVE.read_text()) if LIVE.exists() else None),
        "fallback": fallback(json.loads(FALLBACK.read_text())),
        "sealed_missing": sealed_missing(result),
        "sealed_names": ", ".join(_name(env) for env in result["sealed"]),
    }
    text = _TEXT.read_text()
    for name, part in parts.items():
        text = text.replace(f"{{{{{name}}}}}", part)
    return text


def verdict(result: Result) -> str:
    """What follows for somebody who has to choose, in three sentences."""
    ways = result["rivals"]
    free, race = ways["constant"], ways["race"]
    best = _best_search_name(ways, "parallel:16", "4")
    longest = _constant(result, "samples")
    shortest = _constant(result, "parallel:16")
    lines = [_sealed_verdict(result)] if result["rivals_sealed"] else []
    return "\n".join(
        [
            *lines,
            f"- **At equal samples nearly any long T will do.** Always T = {longest} loses "
            f"{_percent(_at(result, 'samples', longest))} on average over the "
            f"{_envs(result)} development envs, at no cost; a race of four trainings loses "
            f"{_interval(race['samples']['4']['loss'])}.",
            f"- **At equal time on parallel hardware the choice of T decides.** SB3's T = 2,048 "
            f"loses {_interval(ways[_sb3(ways)]['parallel:16']['0']['loss'])}, the best constant "
            f"(T = {shortest}, learnt on the other envs) "
            f"{_interval(free['parallel:16']['0']['loss'])}.",
            f"- **There a race pays.** For four trainings, all of them quarters, it loses "
            f"{_interval(race['parallel:16']['4']['loss'])}; the best search at the same cost "
            f"({best}) {_interval(ways[best]['parallel:16']['4']['loss'])}.",
        ]
    )


def _sealed_verdict(result: Result) -> str:
    ways = result["rivals_sealed"]
    race, free = ways["race"]["parallel:16"]["4"], ways["constant"]["parallel:16"]["0"]
    best = _best_search_name(ways, "parallel:16", "4")
    return (
        f"- **On {race['envs']} envs that nobody had looked at** a race of four trainings loses "
        f"{_interval(race['loss'])} at equal time on parallel hardware (T + 16), the T that is "
        f"best on the other envs {_interval(free['loss'])} and the best search at the same cost "
        f"({best}) {_interval(ways[best]['parallel:16']['4']['loss'])}. With so few "
        "envs the intervals overlap, and the aim of 2.5 % is missed there."
    )


def constants(result: Result) -> str:
    """The mean loss of every T over the envs of B = 2,048, by objective."""
    steps = [2**k for k in range(12)]
    lines = [_row(["", *(f"T={t}" for t in steps)]), _row(["---"] * 13)]
    for objective in _objectives(result):
        means = {t: _at(result, objective, t) for t in steps}
        least = min(means.values())
        shown = [
            f"**{_percent(loss)}**" if loss == least else _percent(loss) for loss in means.values()
        ]
        lines.append(_row([NAMES[objective], *shown]))
    return "\n".join(lines)


def rivals(result: Result, which: str) -> str:
    """Every way of choosing by objective and budget; the least loss of a column is bold."""
    objectives = _objectives(result)
    found = []
    for objective in objectives:
        ways = {name: of[objective] for name, of in result[which].items() if objective in of}
        columns = [
            budget for budget in ("0", *BUDGETS) if any(budget in of for of in ways.values())
        ]
        least = {
            budget: min(of[budget]["loss"]["value"] for of in ways.values() if budget in of)
            for budget in columns
        }
        found += [f"**At {NAMES[objective]}**", ""]
        found.append(_row(["trainings spent", *("free" if b == "0" else b for b in columns)]))
        found.append(_row(["---"] * (1 + len(columns))))
        for name, of in ways.items():
            cells_of = []
            for budget in columns:
                words = _interval(of[budget]["loss"]) if budget in of else ""
                best = budget in of and of[budget]["loss"]["value"] == least[budget]
                cells_of.append(f"**{words}**" if best else words)
            found.append(_row([name, *cells_of]))
        oracle = result["oracle"]["oracle"][objective]["0"]["loss"]
        if which == "rivals":
            found.append(_row(["an oracle under the same noise", _interval(oracle)]))
        found.append("")
    return "\n".join(found).rstrip()


_IN_GROUPS = ("constant", "race", "grid, smoothed", "successive halving", "random, best of k")


def groups(result: Result) -> str:
    """The race, the constant and fast searches on the other cells, at c = 16 and equal samples."""
    head = ["cells", "objective", "envs", "way of choosing", "free", *BUDGETS]
    lines = [_row(head), _row(["---"] * len(head))]
    for group, ways in result["groups"].items():
        batch, _, start = group.partition(", ")
        for objective in ("parallel:16", "samples"):
            for name in _IN_GROUPS:
                of = ways.get(name, {}).get(objective, {})
                if not of:
                    continue
                words = [f"B = {int(batch):,} {start}".strip(), NAMES[objective]]
                words += [str(next(iter(of.values()))["envs"]), name]
                cells_of = [of[b]["loss"] if b in of else None for b in ("0", *BUDGETS)]
                lines.append(
                    _row([*words, *("" if one is None else _interval(one) for one in cells_of)])
                )
    return "\n".join(lines)


_TIMES = ("measured", "parallel:4", "parallel:16", "parallel:64")
_MOST = {"4": 0.025, "8": 0.02}


def aims(ways: Result) -> str:
    """What the race was meant to reach at equal time, and what it reached."""
    head = ["", "budget", "race", "aim", "half of the best search", "constant", "reached"]
    lines = [_row(head), _row(["---"] * len(head))]
    for objective in (one for one in _TIMES if one in ways["constant"]):
        constant = ways["constant"][objective]["0"]["loss"]["value"]
        for budget in BUDGETS:
            race = ways["race"][objective][budget]["loss"]["value"]
            search = _best_search(ways, objective, budget)
            most = min(_MOST.get(budget, constant), search / 2)
            words = [NAMES[objective], budget, _percent(race)]
            words += [_percent(_MOST[budget]) if budget in _MOST else "below the constant"]
            words += [_percent(search / 2), _percent(constant)]
            lines.append(_row([*words, "yes" if race <= most else "**no**"]))
    return "\n".join(lines)


_MUCH = 0.05


def worse_than_constant(result: Result) -> str:
    """The cells on which the race loses much more than the constant, which it was never to do."""
    race, constant = (result["by_cell"][name] for name in ("race", "constant"))
    found: dict[str, list[str]] = {}
    for objective in _objectives(result):
        for budget in BUDGETS:
            for cell, lost in race[objective][budget].items():
                free = constant[objective]["0"][cell]
                if lost > free + _MUCH:
                    words = f"{budget}: {_percent(lost)} against {_percent(free)}"
                    found.setdefault(f"{NAMES[objective]}, {cell}", []).append(words)
    if not found:
        return "On no cell does the race lose over 5 points more than the constant."
    lines = [
        "It was never to lose over 5 points more than the constant; **missed** on these cells:"
    ]
    lines += ["", *(f"- {where}; for {', '.join(words)}" for where, words in found.items())]
    return "\n".join(lines)


def calibration_aims(by_kind: Result) -> str:
    """Which aims of calibration are reached on parallel hardware, before rounding."""
    lines = [_row(["budget", "aim", "found", "reached"]), _row(["---"] * 4)]
    for budget, found in by_kind["parallel"].items():
        held, safe = found["intervals"]["0.9"], found["safe_range"]["precision"]
        brier, base = found["brier"], found["brier_of_base_rate"]
        rows = [
            ("90 % intervals hold 87 to 93 %", f"{100 * held:.1f} %", 0.87 <= held <= 0.93),
            (f"Brier score below the base rate's, {base:.4f}", f"{brier:.4f}", brier < base),
            ("precision of the safe range at least .9", _exact(safe), (safe or 0) >= 0.9),
        ]
        lines += [_row([budget, *words, "yes" if met else "**no**"]) for *words, met in rows]
    return "\n".join(lines)


def _exact(number: float | None) -> str:
    return "none named" if number is None else f"{number:.4f}"


def carried(result: Result) -> str:
    """Which rows are of an earlier run of the judge."""
    if not result.get("carried_over"):
        return ""
    names = ", ".join(f"`{name}`" for name in result["carried_over"])
    return (
        f"**Provisional:** the rows of {names} are of an earlier run, whose losses were shares of "
        "each deal's own span; all others are new.\n"
    )


def _best_search(ways: dict[str, Any], objective: str, budget: str) -> float:
    """The loss of the best search at a budget."""
    name = _best_search_name(ways, objective, budget)
    return float(ways[name][objective][budget]["loss"]["value"])


def _best_search_name(ways: dict[str, Any], objective: str, budget: str) -> str:
    """The search that loses least at a budget; what learns from other envs is no search."""
    searches = [
        name
        for name, of in ways.items()
        if not name.startswith(("race", "gradient"))
        and name != "portfolio"
        and budget in of.get(objective, {})
    ]
    return min(searches, key=lambda name: float(ways[name][objective][budget]["loss"]["value"]))


def calibrated(by_kind: Result) -> str:
    """How often what the race says of itself came true."""
    head = ["costs", "budget", "stated", "true", "Brier (uncorrected; others' rate; base rate)"]
    head += ["50 % hold", "90 % hold"]
    head += ["safe range: precision", "recall", "repeats: within an octave", "within 5 %"]
    lines = [_row(head), _row(["---"] * len(head))]
    for kind, budgets in by_kind.items():
        for budget, found in budgets.items():
            safe, again = found["safe_range"], found["repeats"] or {}
            words = [kind, budget, f"{found['stated']:.2f}", f"{found['true']:.2f}"]
            words.append(_brier(found))
            words += [f"{100 * found['intervals'][level]:.0f} %" for level in ("0.5", "0.9")]
            words += [_share(safe["precision"]), _share(safe["recall"])]
            words += [_share(again.get(name)) for name in ("within_an_octave", "within_5_percent")]
            lines.append(_row(words))
    lines += ["", "Reliability on parallel hardware, by what was stated:", ""]
    found = by_kind["parallel"]
    lines += [_row(["budget", "stated", "true", "asked"]), _row(["---"] * 4)]
    lines += [
        _row([budget, f"{row['stated']:.2f}", f"{row['true']:.2f}", str(row["asked"])])
        for budget, of in found.items()
        for row in of["reliability"]
    ]
    return "\n".join(lines)


def expected(result: Result) -> str:
    """How often what is expected before any race comes true."""
    found = result.get("answers", {}).get("expected") or {}
    words = [
        f"{NAMES[name]} {_percent(of['held'])} (mean width {100 * of['width']:.0f} points)"
        for name, of in found.items()
        if of
    ]
    return "; ".join(words) or "not measured yet"


_NOT_YET = "Not measured yet."


def deciding(result: Result) -> str:
    """What other ways of deciding a race lose more than it, in the same replays."""
    if "paired" not in result:
        return _NOT_YET
    head = ["more than `race`, in points", "objective", *BUDGETS, "all batch sizes, 4"]
    lines = [_row(head), _row(["---"] * len(head))]
    for name, objectives in result["paired"].items():
        for objective in _objectives(result):
            of = objectives[objective]
            words = [_points(of[budget]["usual"]) for budget in BUDGETS]
            lines.append(_row([name, NAMES[objective], *words, _points(of["4"]["all"])]))
    return "\n".join(lines)


def own_returns(result: Result) -> str:
    """How far a training's own episodes lie from evaluations, short T beside long T."""
    found = result.get("answers", {}).get("own_returns")
    if not found:
        return _NOT_YET
    parts = []
    for objective, of in found.items():
        short, long = of["short"], of["long"]
        parts.append(
            f"{NAMES[objective]}: by {_interval(short)} of the best gain below T = 32 (at most "
            f"{_percent(short['most'])}), by {_interval(long)} from T = 32 on (at most "
            f"{_percent(long['most'])})"
        )
    return f"What a quarter promises differs between the two, at {'; at '.join(parts)}."


def batches(result: Result) -> str:
    """The best batch size and T beside the best T at B = 2,048, and races over both."""
    found = result.get("answers", {}).get("batches") or {}
    found = {name: of for name, of in found.items() if of}
    if not found:
        return _NOT_YET
    envs = max(of["envs"] for of in found.values())
    head = [f"loss on {envs} envs", *(NAMES[name] for name in found)]
    lines = [_row(head), _row(["---"] * len(head))]
    for what in next(iter(found.values()))["loss"]:
        cells_of = []
        for of in found.values():
            words = _percent(of["loss"][what]["value"])
            if what in of["more_than_usual"]:
                words += f" ({_points(of['more_than_usual'][what])})"
            cells_of.append(words)
        lines.append(_row([what, *cells_of]))
    lines += ["", "The batch size of the best layout: "]
    lines[-1] += "; ".join(
        f"{NAMES[name]}: "
        + ", ".join(f"{env} {batch:,}" for env, batch in of["best_batch"].items())
        for name, of in found.items()
    )
    return "\n".join(lines) + "."


def staggered(result: Result) -> str:
    """What staggered starts win, by T, on the development envs and on the sealed ones."""
    parts = [
        _stagger_table(result.get("answers", {}).get("stagger") or {}, "development"),
        _stagger_table(result.get("stagger_sealed") or {}, "sealed"),
    ]
    return "\n\n".join(part for part in parts if part) or _NOT_YET


def _stagger_table(found: Result, which: str) -> str:
    found = {name: of for name, of in found.items() if of}
    if not found:
        return ""
    envs = next(iter(found.values()))["envs"]
    steps = list(next(iter(found.values()))["won"])
    head = [f"won on {envs} {which} envs, in points", *(f"T={t}" for t in steps)]
    lines = [_row(head), _row(["---"] * len(head))]
    for name, of in found.items():
        lines.append(_row([NAMES[name], *(_points(of["won"][t]) for t in steps)]))
    lost = [
        f"{NAMES[name]} {_percent(of['best_loses']['together'])} and "
        f"{_percent(of['best_loses']['staggered'])}"
        for name, of in found.items()
    ]
    lines += ["", "What the best T loses against the best of both, with envs started together and "]
    lines[-1] += f"staggered: {'; '.join(lost)}."
    return "\n".join(lines)


def stagger_races(result: Result) -> str:
    """What races with one kind of starts lose, and one in which both kinds are arms."""
    found = result.get("answers", {}).get("stagger_races") or {}
    found = {name: of for name, of in found.items() if of}
    if not found:
        return _NOT_YET
    head = ["loss of a race with starts", *(NAMES[name] for name in found)]
    lines = [_row(head), _row(["---"] * len(head))]
    for starts in ("together", "staggered", "both"):
        words = []
        for of in found.values():
            more = of["more_than_staggered"].get(starts)
            behind = f" ({_points(more)})" if more else ""
            words.append(f"{_percent(of['loss'][starts]['value'])}{behind}")
        lines.append(_row([starts, *words]))
    return "\n".join(lines)


def _points(found: dict[str, float]) -> str:
    value, low, high = (100 * found[name] for name in ("value", "low", "high"))
    return f"{value:+.1f} [{low:.1f}, {high:.1f}]"


def _brier(found: dict[str, Any]) -> str:
    names = ("brier_uncorrected", "brier_of_others_rate", "brier_of_base_rate")
    rest = "; ".join(f"{found[name]:.3f}" for name in names if name in found)
    return f"{found['brier']:.3f} ({rest})"


def _share(number: float | None) -> str:
    return "" if number is None else f"{number:.2f}"


def sealed(result: Result) -> str:
    """The same for the sealed envs, or that they were not asked."""
    if not result["rivals_sealed"]:
        return "They have not been asked yet."
    parts = [_SEALED_TEXT, rivals(result, "rivals_sealed")]
    parts += ["Against the aims, on these envs:", aims(result["rivals_sealed"])]
    if "calibration_sealed" in result:
        found = result["calibration_sealed"]
        parts += ["How often it came true, with the power that is shipped:", calibrated(found)]
        parts.append(calibration_aims(found))
    return "\n\n".join(parts)


def fallback(found: Result) -> str:
    """What the old fallback lost, and how far the shipped rule is from what was judged."""
    at = found["parallel:16"]["open"]
    old, judged = (at[way]["4"] for way in ("usual unless clearly learnt", "always its best"))
    most = {
        name: max(
            abs(of[name]["race"][budget] - of[name]["always its best"][budget])
            for of in found.values()
            for budget in BUDGETS
        )
        for name in ("open", "sealed")
    }
    return (
        f"and on the development envs that is better: the old fallback loses {_percent(old)} for "
        f"four trainings at T + 16, and the race that was judged {_percent(judged)}. Now the usual "
        "T is named only where no arm gained anything at all, which changes a mean loss at "
        f"B = 2,048 by at most {100 * most['open']:.2f} points on the development envs and "
        f"{100 * most['sealed']:.2f} on the sealed ones (`benchmarks/proving/fallback.py`)."
    )


def sealed_missing(result: Result) -> str:
    """Name the sealed envs that were never trained, or hardly learnt."""
    trained = {cell["env"] for cell in result["cells"]}
    names = [_name(env) for env in result["sealed"] if env not in trained]
    if not names or not result["rivals_sealed"]:
        return ""
    return f"Not asked, because their trainings take too long: {', '.join(names)}."


_SEALED_TEXT = (
    "Rules that learn from other tasks have learnt from the development envs only. All at "
    "B = 2,048 with envs started together."
)


def cells(result: Result) -> str:
    """Every cell: what was trained, and how well its losses are known."""
    head = ["env", "batch", "starts", "samples", "seeds", "best T, samples", "best T, T + 16"]
    lines = [_row([*head, "standard error"]), _row(["---"] * 8)]
    for cell in result["cells"]:
        at_samples = cell["losses"]["samples"]
        lines.append(
            _row(
                [
                    _name(cell["env"]) + (" (sealed)" if cell["sealed"] else ""),
                    f"{cell['batch']:,}",
                    "staggered" if cell["stagger"] else "together",
                    f"{cell['total']:,}",
                    str(cell["seeds"]),
                    str(_best(cell, "samples")),
                    str(_best(cell, "parallel:16")),
                    f"{100 * at_samples['standard_error']:.1f}",
                ]
            )
        )
    return "\n".join(lines)


def dropped(result: Result) -> str:
    """Cells in which nothing was learnt."""
    if not result["dropped"]:
        return "No cell was dropped."
    names = [f"{one['name']} ({one['gain_in_standard_errors']:g})" for one in result["dropped"]]
    return f"Dropped, with the gain in standard errors: {'; '.join(names)}."


def external(found: dict[str, list[dict[str, Any]]]) -> str:
    """What others report, beside small versions of it."""
    parts = []
    for name, (source, says) in _SOURCES.items():
        if name not in found:
            continue
        rows = found[name]
        parts += [f"**{source}** {says}", "", _row([_column(key) for key in rows[0]])]
        parts += [
            _row(["---"] * len(rows[0])),
            *(_row([_shown(value) for value in row.values()]) for row in rows),
        ]
        if name in _SEEN:
            parts += ["", _SEEN[name](rows)]
        parts.append("")
    return "\n".join(parts).rstrip() or "They have not been measured yet."


def live(found: Result | None) -> str:
    """Whether searches on recorded curves lose what live ones lose."""
    if found is None:
        return "It has not been asked on live trainings yet."
    parts = [
        f"`{name}` loses {_interval(of['live'])} on live trainings and "
        f"{_interval(of['replayed'])} on recorded ones"
        for name, of in found["lost"].items()
    ]
    where = f"{_name(found['env'])}, {NAMES[found['objective']]}, {found['budget']} trainings"
    count = f"{found['searches']} live searches, {found['replays']} replays"
    return f"For a check it also trained for itself in one cell ({where}; {count}): " + (
        f"{'; '.join(parts)}."
    )


def _column(key: str) -> str:
    part, of, seeds = key.partition(" of ")
    if of:
        return f"first {float(part):.0%}, {seeds} seed{'s' * (seeds != '1')}".replace("%", " %")
    return key.replace("_", " ")


def _flags(rows: list[dict[str, Any]]) -> str:
    """Who has reached the flag of MountainCar."""
    there = [row["envs"] for row in rows if row["reached"] > 0]
    if not there:
        return (
            "Here nobody has reached the flag, with few envs or with many: what the source reports "
            "is not seen in a training as short as this."
        )
    return f"Here the flag was reached with {', '.join(f'{envs:,}' for envs in there)} envs."


def _wide(rows: list[dict[str, Any]]) -> str:
    """How often many envs with few steps were ahead of few envs with many."""
    pairs = [
        (one, other)
        for one in rows
        for other in rows
        if one["envs"] > other["envs"]
        if (one["env"], one["stagger"]) == (other["env"], other["stagger"])
    ]
    return f"Over the training, 128 x 8 is ahead of 8 x 128 {_ahead(pairs)}."


def _staggered_ahead(rows: list[dict[str, Any]]) -> str:
    """How often staggered starts were ahead."""
    pairs = [
        (one, other)
        for one in rows
        for other in rows
        if one["stagger"] and not other["stagger"] and one["envs"] == other["envs"]
    ]
    return f"Over the training, staggered starts are ahead {_ahead(pairs)}."


def _ahead(pairs: list[tuple[dict[str, Any], dict[str, Any]]]) -> str:
    scored = [(one["over_training"], other["over_training"]) for one, other in pairs]
    more = sum(one["value"] > other["value"] for one, other in scored)
    clear = sum(one["low"] > other["high"] for one, other in scored)
    return f"in {more} of {len(scored)} pairs, in {clear} with intervals apart"


_SEEN = {"mountain-car": _flags, "wide-minatar": _wide, "staggered": _staggered_ahead}


def _shown(value: Any) -> str:
    if isinstance(value, dict):
        return f"{value['value']:g} [{value['low']:g}, {value['high']:g}]"
    if isinstance(value, bool):
        return "yes" if value else "no"
    return f"{value:,}" if isinstance(value, int) else str(value)


def _objectives(result: Result) -> list[str]:
    return [name for name in NAMES if name in result["rivals"]["constant"]]


def _development(result: Result) -> list[dict[str, Any]]:
    return [
        cell
        for cell in result["cells"]
        if cell["batch"] == 2048 and not cell["stagger"] and not cell["sealed"]
    ]


def _envs(result: Result) -> int:
    return len({cell["env"] for cell in result["cells"] if not cell["sealed"]})


def _at(result: Result, objective: str, steps: int) -> float:
    """The mean loss of a T over the development envs at B = 2,048."""
    losses = [
        cell["losses"][objective]["loss"][cell["steps"].index(steps)]["value"]
        for cell in _development(result)
    ]
    return float(np.mean(losses))


def _constant(result: Result, objective: str) -> int:
    return min((2**k for k in range(12)), key=lambda t: _at(result, objective, t))


def _best(cell: dict[str, Any], objective: str) -> int:
    values = [one["value"] for one in cell["losses"][objective]["loss"]]
    steps: int = cell["steps"][int(np.argmin(values))]
    return steps


def _sb3(ways: dict[str, Any]) -> str:
    return next(name for name in ways if name.startswith("SB3"))


def _name(env: str) -> str:
    return env.rpartition(":")[2]


def _percent(loss: float) -> str:
    return f"{100 * loss:.1f} %"


def _interval(loss: dict[str, float]) -> str:
    low, high = (100 * loss[end] for end in ("low", "high"))
    return f"{100 * loss['value']:.1f} % [{low:.1f}, {high:.1f}]"


def _row(words: Sequence[str]) -> str:
    return f"| {' | '.join(words)} |"


if __name__ == "__main__":
    main()
