"""The claim on the full batch in one gradient step: its memory and its time."""

from nbyt.report import figures
from nbyt.results.study import Figures
from nbyt.results.values import Data
from nbyt_studies.experiment import env_name
from nbyt_studies.numbers import exact_number
from nbyt_studies.study import Evidence, Results
from nbyt_studies.verdict import Check

# What the smallest machines for training have: a limit must be near to be one.
_GIGABYTE = 1e9


def _name(row: Data) -> str:
    return f"{env_name(row['env'])}, {row['network']}"


def _checks(results: Results) -> list[Check]:
    memory = [
        Check(
            {"limit": "memory", "env": _name(row)},
            "bytes that a gradient step on the full batch needs",
            exact_number(max(row["bytes"].values())),
            low=_GIGABYTE,
        )
        for row in results["costs"]["rows"]
    ]
    return memory + [
        Check(
            {"limit": "compute", "env": _name(row)},
            "seconds per epoch, full batch over mini-batches",
            row["update_ratio"],
            low=1,
        )
        for row in results["costs"]["rows"]
    ]


def _tables(results: Results) -> Figures:
    kinds = list(results["costs"]["minibatches"])
    rows = results["costs"]["rows"]
    memory = [[_name(row), *(f"{row['bytes'][kind] / 1e6:.1f}" for kind in kinds)] for row in rows]
    seconds = [
        [_name(row), *(row["seconds"][kind] for kind in kinds), row["update_ratio"]] for row in rows
    ]
    head = ["env", *(f"{kind}, MB" for kind in kinds)]
    of_an_epoch = ["env", *(f"{kind}, seconds" for kind in kinds), "ratio"]
    return [
        figures.table("Memory of the compiled update", head, memory),
        figures.table("Seconds of one epoch over the batch", of_an_epoch, seconds),
    ]


EVIDENCE = {"costs": Evidence(_checks, _tables)}
