"""The full batch in one gradient step: what it needs, and how long it takes."""

from nbyt.report import figures
from nbyt.results.values import Data
from nbyt_studies.numbers import exact_number
from nbyt_studies.study import Check, Claim, Results, always

_ROUNDING = 1e-9
_BINS = 24
_NAMES = {"sticky": "sticky context", "garnet": "random table", "frozenlake": "FrozenLake 8x8"}


def _checks(results: Results) -> list[Check]:
    return [
        Check(
            {"env": _NAMES[row["env"]], "steps": str(row["steps"])},
            "sum of P(tau | pi) over all trajectories",
            exact_number(row["sum"]),
            1 - _ROUNDING,
            1 + _ROUNDING,
        )
        for row in results["probability"]["sums"]
    ]


def _figures(results: Results) -> list[Data]:
    data = results["probability"]
    rows = [
        [_NAMES[row["env"]], str(row["steps"]), f"{row['count']:,}", f"{row['sum'] - 1:.1e}"]
        for row in data["sums"]
    ]
    seen = data["log10"]
    low, high = min(seen), max(seen)
    width = (high - low) / _BINS or 1.0
    counts = [0] * _BINS
    for value in seen:
        counts[min(_BINS - 1, int((value - low) / width))] += 1
    return [
        figures.row(
            figures.table(
                "All trajectories of a table", ["env", "steps", "trajectories", "sum - 1"], rows
            ),
            figures.histogram(
                f"FrozenLake 8x8, mid policy: what {len(seen):,} sampled trajectories had",
                f"log10 P(tau | pi), up to {data['steps']} steps",
                [low + place * width for place in range(_BINS + 1)],
                [{"name": "trajectories", "heights": [count / len(seen) for count in counts]}],
                y_title="share of trajectories",
            ),
        )
    ]


PROBABILITY_CLAIMS = (
    Claim(
        id="trajectory-probability",
        topic="The data move",
        says="A trajectory's probability is that of its start times those of its actions under "
        "the policy and of the env's answers.",
        measured="The product as a function on tables (nbyt.exact.trajectory_probability), added "
        "up over every trajectory of 1 to 4 steps of three tables, and over shorter ones that "
        "ended.",
        asks="Each sum is 1, to nine digits.",
        needs=("probability",),
        checks=_checks,
        figures=_figures,
    ),
)


_TOPIC = "The smaller statements"
_MEASURED = (
    "The compiled update of actor and critic, batch 2,048, one epoch, as one mini-batch of 2,048 "
    "or as 32 of 64: CartPole-v1 with an MLP 64x64, MinAtar Breakout with a small CNN, on this "
    "machine's CPU. "
)


def _name(row: Data) -> str:
    return f"{row['env'].partition(':')[2]}, {row['network']}"


def _memory(results: Results) -> list[Check]:
    return [
        Check(
            {"env": _name(row)},
            "bytes of the update, full batch over mini-batches",
            row["memory_ratio"],
            low=1 + 1e-9,
        )
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


CLAIMS = (
    Claim(
        id="costs-memory",
        topic=_TOPIC,
        says="A gradient step on the whole batch needs more memory than one on a mini-batch.",
        measured=_MEASURED + "Memory: what the compiler says that the programs need, arguments "
        "and results included.",
        asks="Bytes, full batch over mini-batches, are above 1.",
        needs=("costs",),
        checks=_memory,
        figures=_memory_table,
    ),
    Claim(
        id="costs-seconds",
        topic=_TOPIC,
        says="A gradient step on the whole batch costs more computing than one on a mini-batch.",
        measured=_MEASURED + "Seconds: both kinds in turn, 60 rounds (quick: 20) for the MLP and "
        "6 (quick: 3) for the CNN.",
        asks="Seconds, full batch over mini-batches, are above 1: per gradient step, and per "
        "epoch, where both use every sample once; interval over rounds.",
        needs=("costs",),
        checks=_seconds,
        figures=_seconds_table,
        notes=always(
            "Seconds are those of one machine, with both kinds in turn; a device with more cores "
            "may divide them otherwise. Per step and per epoch became two cases after a first run."
        ),
    ),
)
