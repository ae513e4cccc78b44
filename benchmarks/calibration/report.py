"""docs/calibration.md and its drawing from result.json, and those of live batches and sweeps.

Every number comes from these files.

    python -m benchmarks.calibration.report [RESULT.json]

Exits with 1 where a gate fails for no known reason.
"""

import json
import sys
from collections import defaultdict
from collections.abc import Iterable
from pathlib import Path
from typing import Any

from benchmarks.calibration import figure
from benchmarks.calibration.gate import NARROW, WIDE, limits
from benchmarks.calibration.reasons import REASONS, reason
from benchmarks.calibration.truths import SQUARED
from benchmarks.live import section as live
from benchmarks.sweep import section as sweeps
from nbyt.store.atomic import write_text

RESULT = Path(__file__).parent / "result.json"
DOCS = Path(__file__).parents[2] / "docs"
_PAGE = Path(__file__).parent / "page.md"

FULL = 128
"""Chains of a pool of the default size."""

# Names as reports have them, in the order of a report; lags are one row.
_ROWS = (
    "individual",
    "covariance",
    "variance",
    "ess_ratio",
    "bias_sq",
    "bias_sq_advantage",
    "bias_sq_phase",
    "mse",
    "cosine",
    "bias_factor",
    "noise_factor",
    "alignment",
    "rho_difference",
    "rho_ratio",
    "regret",
    "phase",
    "lag",
    "across",
    "explained_variance",
    *(f"printed_{field}" for field in SQUARED),
)

Gate = dict[str, Any]
Result = dict[str, Any]


def main() -> int:
    """The exit code; page and drawing are then written."""
    source = Path(sys.argv[1]) if len(sys.argv) > 1 else RESULT
    result = json.loads(source.read_text())
    rows = [(name, gates) for name in _ROWS if (gates := _of(_gates(result), name))]
    low, high = limits(1000)
    write_text(
        DOCS / "drawings" / "calibration.svg", figure.strips(rows, (low / 1000, high / 1000))
    )
    write_text(DOCS / "calibration.md", page(result))
    unsaid = [gate for gate in _gates(result) if _verdict(gate) == "FAILS"]
    print(_counts(_gates(result)))
    print("\n".join(_name(gate) + f" {_percent(gate['coverage'])}" for gate in unsaid))
    return 1 if unsaid else 0


def page(result: Result) -> str:
    """The whole page."""
    full = _gates(result)
    few = [gate for gate in _all(result) if gate["chains"] < FULL]
    low, high = limits(1000)
    return _PAGE.read_text().format(
        full=FULL,
        counts=_counts(full),
        cases=_cases(result),
        low=f"{low / 10:.1f}",
        high=f"{high / 10:.1f}",
        narrow=NARROW,
        wide=WIDE,
        coverage=_coverage(result, full),
        failures=_failures(full),
        why=_why(full),
        undetermined=_undetermined(full),
        undetermined_count=sum(gate["undetermined"] >= 0.01 for gate in full),
        weak=_weak(full),
        power=_power(full),
        few=_few(few),
        live=live.section(json.loads(live.RESULT.read_text())),
        sweeps=sweeps.section(json.loads(sweeps.RESULT.read_text())),
        details=_details(result),
        skipped=_skipped(result),
        versions=", ".join(f"{name} {version}" for name, version in result["versions"].items()),
        sources=result["sources"],
    )


def _all(result: Result) -> list[Gate]:
    """All gates that are not skipped and have at least one interval, each with its case."""
    return [
        {**gate, "case": case["name"], "chains": case["chains"]}
        for case in result["cases"]
        for gate in case["gates"]
        if gate.get("determined")
    ]


def _gates(result: Result) -> list[Gate]:
    """Those of pools of the default size."""
    return [gate for gate in _all(result) if gate["chains"] == FULL]


def _of(gates: Iterable[Gate], row: str) -> list[Gate]:
    return [gate for gate in gates if _row(gate) == row]


def _row(gate: Gate) -> str:
    return "lag" if gate["field"].startswith("lag_") else gate["field"]


def _verdict(gate: Gate) -> str:
    """What became of a gate."""
    if gate["passes"]:
        return "passes"
    if reason(gate) is None and gate["chains"] == FULL:
        return "FAILS"
    return "less" if gate["coverage"] < 0.95 else "more"


def _counts(gates: list[Gate]) -> str:
    failed = [gate for gate in gates if not gate["passes"]]
    less = [gate for gate in failed if gate["coverage"] < 0.95]
    said = sum(gate["flagged"] >= 0.5 for gate in failed)
    unknown = sum(_verdict(gate) == "FAILS" for gate in gates)
    bare = [gate for gate in gates if gate["flagged"] < 0.5]
    off = [gate["coverage"] for gate in bare if not gate["passes"]]
    found = (
        f"{len(bare) - len(off)} of the {len(bare)} gates pass whose intervals are mostly printed "
        f"without a mark; the other {len(off)} cover {_percent(min(off))} to "
        f"{_percent(max(off))} %. "
        if off
        else f"all {len(bare)} gates pass whose intervals are mostly printed without a mark. "
    )
    found += (
        f"With those that are marked approximate, {len(gates) - len(failed)} of {len(gates)} "
        f"gates pass. Of the {len(failed)} others, "
        f"{len(less)} cover less than they should and {len(failed) - len(less)} more; in {said} "
        "of them most intervals are printed as approximate"
    )
    return found + (f", and {unknown} have no known reason." if unknown else ".")


def _why(gates: list[Gate]) -> str:
    """Every known reason with the gates that it explains."""
    failed = [gate for gate in gates if not gate["passes"]]
    lines = []
    for one in REASONS:
        own = [gate for gate in failed if reason(gate) is one]
        if own:
            lines.append(f"- **{one.title}** {one.words} {_summed_up(own)}")
    unknown = [gate for gate in failed if reason(gate) is None]
    lines += [f"- **Not explained:** {_name(g)}, {_percent(g['coverage'])} %." for g in unknown]
    return "\n".join(lines)


def _summed_up(gates: list[Gate]) -> str:
    covers = [gate["coverage"] for gate in gates]
    low, high = _percent(min(covers)), _percent(max(covers))
    cases = ", ".join(dict.fromkeys(gate["case"] for gate in gates))
    span = f"{low} to {high} %" if low != high else f"{low} %"
    return f"*{len(gates)} gates, {span}; {cases}.*"


def _cases(result: Result) -> str:
    head = _head("case", "what", "pools", "chains x steps", "T", "batch")
    rows = [
        f"| {case['name']} | {case['words']} | {case['pools']:,} | {case['chains']} x "
        f"{case['chain_steps']} | {', '.join(map(str, case['steps']))} | {case['batch']} |"
        for case in result["cases"]
    ]
    return "\n".join([head, *rows])


def _coverage(result: Result, gates: list[Gate]) -> str:
    """Lowest and highest coverage over T and gradients, by field and case."""
    names = [case["name"] for case in result["cases"] if case["chains"] == FULL]
    rows = [_head("field", *names)]
    for row in _ROWS:
        cells = [_cell([g for g in _of(gates, row) if g["case"] == name]) for name in names]
        if any(cell for cell in cells):
            rows.append(f"| {row} | {' | '.join(cells)} |")
    return "\n".join(rows)


def _cell(gates: list[Gate]) -> str:
    if not gates:
        return ""
    covers = sorted(gate["coverage"] for gate in gates)
    text = _percent(covers[0])
    if _percent(covers[-1]) != text:
        text += f" to {_percent(covers[-1])}"
    return text if all(gate["passes"] for gate in gates) else f"**{text}**"


def _failures(gates: list[Gate]) -> str:
    """By field: how many gates fail, which way, and where it is worst."""
    rows = [_head("field", "gates", "too few hits", "too many", "furthest off", "approximate")]
    for row in _ROWS:
        own = _of(gates, row)
        failed = [gate for gate in own if not gate["passes"]]
        if not failed:
            continue
        less = sum(gate["coverage"] < 0.95 for gate in failed)
        worst = max(failed, key=lambda gate: abs(gate["coverage"] - 0.95))
        flagged = sum(g["flagged"] * g["determined"] for g in failed)
        share = flagged / sum(g["determined"] for g in failed)
        rows.append(
            f"| {row} | {len(own)} | {less} | {len(failed) - less} | "
            f"{_percent(worst['coverage'])} ({_name(worst)}) | {_percent(share)} |"
        )
    return "\n".join(rows)


def _undetermined(gates: list[Gate]) -> str:
    rows = [_head("case", "gradient", "field", "no interval", "coverage of the others", "overall")]
    for gate in gates:
        if gate["undetermined"] >= 0.01:
            steps = f", T = {gate['steps']}" if gate["steps"] else ""
            rows.append(
                f"| {gate['case']}{steps} | {gate['gradient']} | {gate['field']} | "
                f"{_percent(gate['undetermined'])} | {_percent(gate['coverage'])} of "
                f"{gate['determined']} | {_percent(gate['overall'])} |"
            )
    return "\n".join(rows)


def _power(gates: list[Gate]) -> str:
    rows = [_head("field", "gates", f"reject x {NARROW}", f"reject x {WIDE}")]
    for row in _ROWS:
        own = _of(gates, row)
        if own:
            found = [sum(bool(g[way]["rejected"]) for g in own) for way in ("narrow", "wide")]
            rows.append(f"| {row} | {len(own)} | {found[0]} | {found[1]} |")
    return "\n".join(rows)


def _weak(gates: list[Gate]) -> str:
    """Which passing gates do not notice a change of width, in one sentence."""
    passing = [gate for gate in gates if gate["passes"]]
    weak = [g for g in passing if not (g["narrow"]["rejected"] and g["wide"]["rejected"])]
    by_row = {row: len(own) for row in _ROWS if (own := _of(weak, row))}
    named = ", ".join(f"{row} ({count})" for row, count in by_row.items())
    if not weak:
        return "Every gate that passes notices both."
    return (
        f"Of the {len(passing)} gates that pass, {len(weak)} do not notice one of the two, and "
        f"so say less than they seem to: {named}."
    )


def _few(gates: list[Gate]) -> str:
    names = list(dict.fromkeys(gate["case"] for gate in gates))
    rows = [_head("field", *names)]
    for row in _ROWS:
        own = _of(gates, row)
        if own:
            cells = [_cell([g for g in own if g["case"] == name]) for name in names]
            rows.append(f"| {row} | {' | '.join(cells)} |")
    return "\n".join(rows)


def _skipped(result: Result) -> str:
    """Why some gates do not exist, with what they are about."""
    reasons: dict[str, dict[str, list[str]]] = defaultdict(lambda: defaultdict(list))
    for case in result["cases"]:
        for gate in case["gates"]:
            if "skipped" in gate:
                about = f"{gate['gradient']} {gate['field']}".strip()
                own = reasons[gate["skipped"]][case["name"]]
                own += [] if about in own else [about]
    return "\n".join(
        f"- {reason}: "
        + "; ".join(f"{name} ({', '.join(about)})" for name, about in by_case.items())
        for reason, by_case in reasons.items()
    )


def _details(result: Result) -> str:
    return "\n\n".join(_case_details(case) for case in result["cases"])


def _case_details(case: dict[str, Any]) -> str:
    gates = _all({"cases": [case]})
    columns = ("T", "gradient", "field", "truth", "coverage", "gate", "above", "no interval")
    rows = [_head(*columns, "approximate", f"x {NARROW}", f"x {WIDE}")]
    for gate in gates:
        misses = gate["determined"] - gate["hits"]
        above = f"{gate['above']} of {misses}" if misses else ""
        rows.append(
            f"| {gate['steps'] or ''} | {gate['gradient']} | {gate['field']} | "
            f"{gate['truth']:.4g} | {_percent(gate['coverage'])} | {_verdict(gate)} | {above} | "
            f"{_share(gate['undetermined'])} | {_share(gate['flagged'])} | "
            f"{_scaled(gate, 'narrow')} | {_scaled(gate, 'wide')} |"
        )
    body = "\n".join(rows)
    title = f"{case['name']}: {case['pools']:,} pools"
    return f"<details>\n<summary>{title}</summary>\n\n{body}\n\n</details>"


def _scaled(gate: Gate, way: str) -> str:
    covered = _percent(gate[way]["hits"] / gate["determined"])
    return covered if gate[way]["rejected"] else f"{covered} (passes)"


def _name(gate: Gate) -> str:
    steps = f"T = {gate['steps']}" if gate["steps"] else ""
    about = (gate["case"], steps, gate["gradient"], gate["field"])
    return ", ".join(part for part in about if part)


def _share(share: float) -> str:
    return _percent(share) if share else ""


def _percent(share: float) -> str:
    return f"{100 * share:.1f}"


def _head(*names: str) -> str:
    return f"| {' | '.join(names)} |\n|{'---|' * len(names)}"


if __name__ == "__main__":
    sys.exit(main())
