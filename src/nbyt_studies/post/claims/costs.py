"""Claims on the full batch in one gradient step: its memory and its time."""

from nbyt.report import figures
from nbyt.results.study import Figures
from nbyt.results.values import Data
from nbyt_studies.experiment import env_name
from nbyt_studies.study import Evidence, Results
from nbyt_studies.verdict import Check


def _name(row: Data) -> str:
    return f"{env_name(row['env'])}, {row['network']}"


def _memory(results: Results) -> list[Check]:
    words = "bytes of the update, full batch over mini-batches"
    return [
        Check({"env": _name(row)}, words, row["memory_ratio"], low=1 + 1e-9)
        for row in results["costs"]["rows"]
    ]


def _seconds(results: Results) -> list[Check]:
    return [
        Check(
            {"per": words, "env": _name(row)},
            f"seconds per {words}, full batch over mini-batches",
            row[name],
            low=1,
        )
        for words, name in (("gradient step", "step_ratio"), ("epoch", "update_ratio"))
        for row in results["costs"]["rows"]
    ]


def _memory_table(results: Results) -> Figures:
    kinds = list(results["costs"]["minibatches"])
    rows = [
        [_name(row), *(f"{row['bytes'][kind] / 1e6:.1f}" for kind in kinds)]
        for row in results["costs"]["rows"]
    ]
    head = ["env", *(f"{kind}, MB" for kind in kinds)]
    return [figures.table("Memory of the compiled update", head, rows)]


def _seconds_table(results: Results) -> Figures:
    kinds = list(results["costs"]["minibatches"])
    rows = [
        [_name(row), *(row["seconds"][kind] for kind in kinds), row["update_ratio"]]
        for row in results["costs"]["rows"]
    ]
    head = ["env", *(f"{kind}, seconds" for kind in kinds), "ratio"]
    return [figures.table("Seconds of one epoch over the batch", head, rows)]


EVIDENCE = {
    "costs-memory": Evidence(_memory, _memory_table),
    "costs-seconds": Evidence(_seconds, _seconds_table),
}
