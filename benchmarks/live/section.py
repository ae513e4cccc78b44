"""The section of docs/calibration.md on single batches of a training, from result.json."""

from pathlib import Path
from typing import Any

from benchmarks.calibration.gate import limits
from benchmarks.live.cases import GRADIENTS

ENOUGH = 64
"""Units from which on nbyt marks no interval for their number alone."""

RESULT = Path(__file__).with_name("result.json")

_WORDS = Path(__file__).with_name("section.md")


def section(found: dict[str, Any]) -> str:
    """The section's text, without its heading."""
    cases, gates = found["cases"], _gates(found)
    batches = cases[0]["batches"]
    low, high = limits(batches)
    whole = [case for case in cases if case["unit_steps"] == case["steps"]]
    missed = [gate for gate in gates if not gate["passes"]]
    words = _WORDS.read_text().rstrip()
    return words.format(
        batches=f"{batches:,}",
        low=f"{100 * low / batches:.1f}",
        high=f"{100 * high / batches:.1f}",
        table=_table(cases),
        counts=_counts(gates),
        absent=f"{100 * max(gate['undetermined'] for gate in gates):.1f}",
        count=len(missed),
        all=len(gates),
        missed=_missed(missed),
        cut=_layouts([case for case in cases if case not in whole]),
        few=_layouts([case for case in whole if case["units"] < ENOUGH]),
        fewest=min(case["units"] for case in whole),
        unmarked=_unmarked([gate for gate in gates if not _marked(gate)]),
    )


def _gates(found: dict[str, Any]) -> list[dict[str, Any]]:
    """Every gate that has a truth and an interval, with its case."""
    return [
        {**gate, "where": f"{case['control']} {_layout(case)}"}
        for case in found["cases"]
        for gate in case["gates"]
        if gate.get("determined")
    ]


def _table(cases: list[dict[str, Any]]) -> str:
    names = list(dict.fromkeys(gate["field"] for gate in cases[0]["gates"]))
    head = ["problem", "layout", "units", *(f"`{name}`" for name in names)]
    rows = [head, ["---"] * len(head)]
    for case in cases:
        own = {(gate["gradient"], gate["field"]): gate for gate in case["gates"]}
        cells = [" / ".join(_cell(own[one, name]) for one in GRADIENTS) for name in names]
        units = f"{case['units']} of {case['unit_steps']} steps"
        rows.append([case["control"], _layout(case), units, *cells])
    return "\n".join(f"| {' | '.join(row)} |" for row in rows)


def _cell(gate: dict[str, Any]) -> str:
    if not gate.get("determined"):
        return "–"
    words = f"{'~' if _marked(gate) else ''}{_percent(gate)}"
    return words if gate["passes"] else f"**{words}**"


def _counts(gates: list[dict[str, Any]]) -> str:
    plain = [gate for gate in gates if not _marked(gate)]
    marked = [gate for gate in gates if _marked(gate)]
    good, rough = (sum(gate["passes"] for gate in some) for some in (plain, marked))
    return (
        f"Of {len(plain)} numbers that are mostly printed without a mark, {good} cover what they "
        f"should; of {len(marked)} that are marked approximate, {rough}."
    )


def _missed(missed: list[dict[str, Any]]) -> str:
    head = ("", "coverage", "misses above", "approximate")
    rows = [head, ("---",) * len(head)]
    for gate in missed:
        above = gate["above"] / (gate["determined"] - gate["hits"])
        share = f"{100 * gate['flagged']:.0f} %"
        rows.append((_name(gate), f"{_percent(gate)} %", f"{100 * above:.0f} %", share))
    return "\n".join(f"| {' | '.join(row)} |" for row in rows)


def _unmarked(plain: list[dict[str, Any]]) -> str:
    """How far off what is printed without a mark is."""
    low, high = (some(plain, key=lambda gate: gate["coverage"]) for some in (min, max))
    return (
        f"from {_percent(low)} % ({_name(low)}) to {_percent(high)} % ({_name(high)}), over all "
        f"{len(plain)} numbers"
    )


def _layouts(cases: list[dict[str, Any]]) -> str:
    return ", ".join(dict.fromkeys(_layout(case) for case in cases))


def _layout(case: dict[str, Any]) -> str:
    return f"{case['envs']}x{case['steps']}"


def _name(gate: dict[str, Any]) -> str:
    return f"{gate['where']}, {gate['gradient']}, {gate['field']}"


def _marked(gate: dict[str, Any]) -> bool:
    return gate["flagged"] >= 0.5


def _percent(gate: dict[str, Any]) -> str:
    return f"{100 * gate['coverage']:.1f}"
