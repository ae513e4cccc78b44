"""Claims on the full batch in one gradient step: its memory and its time."""

from functools import partial

from nbyt.report import figures
from nbyt.results.values import Data
from nbyt_studies.study import Claim, Results, always
from nbyt_studies.verdict import Check

_TOPIC = "The smaller statements"
_MEASURED = (
    "The compiled update of actor and critic, batch 2,048, one epoch, as one mini-batch of 2,048 "
    "or as 32 of 64: CartPole-v1 with an MLP 64x64, MinAtar Breakout with a small CNN, on this "
    "machine's CPU. "
)


def _name(row: Data) -> str:
    return f"{row['env'].partition(':')[2]}, {row['network']}"


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


def _memory_table(results: Results) -> list[Data]:
    rows = [
        [
            _name(row),
            *(f"{row['bytes'][kind] / 1e6:.1f}" for kind in results["costs"]["minibatches"]),
        ]
        for row in results["costs"]["rows"]
    ]
    head = ["env", *(f"{kind}, MB" for kind in results["costs"]["minibatches"])]
    return [figures.table("Memory of the compiled update", head, rows)]


def _seconds_table(results: Results) -> list[Data]:
    kinds = list(results["costs"]["minibatches"])
    rows = [
        [_name(row), *(row["seconds"][kind] for kind in kinds), row["update_ratio"]]
        for row in results["costs"]["rows"]
    ]
    head = ["env", *(f"{kind}, seconds" for kind in kinds), "ratio"]
    return [figures.table("Seconds of one epoch over the batch", head, rows)]


_claim = partial(Claim, topic=_TOPIC, needs=("costs",))

CLAIMS = (
    _claim(
        id="costs-memory",
        says="A gradient step on the whole batch needs more memory than one on a mini-batch.",
        measured=_MEASURED + "Memory: what the compiler says that the programs need, arguments "
        "and results included.",
        asks="Bytes, full batch over mini-batches, are above 1.",
        checks=_memory,
        figures=_memory_table,
    ),
    _claim(
        id="costs-seconds",
        says="A gradient step on the whole batch costs more computing than one on a mini-batch.",
        measured=_MEASURED + "Seconds: both kinds in turn, 60 rounds (quick: 20) for the MLP and "
        "6 (quick: 3) for the CNN.",
        asks="Seconds, full batch over mini-batches, are above 1: per gradient step, and per "
        "epoch, where both use every sample once; interval over rounds.",
        checks=_seconds,
        figures=_seconds_table,
        notes=always(
            "Seconds are those of one machine, with both kinds in turn; a device with more cores "
            "may divide them otherwise. Per step and per epoch became two cases after a first run."
        ),
    ),
)
