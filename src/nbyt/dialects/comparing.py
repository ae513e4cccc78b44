"""Compare two settings in terms that matter for learning."""

from dataclasses import dataclass
from typing import Any

from nbyt.dialects import describing
from nbyt.dialects.describing import table
from nbyt.dialects.dialect import load
from nbyt.dialects.explaining import Explanation, explained
from nbyt.dialects.reading import Reading
from nbyt.dialects.translating import equal_batch, keeping_minibatch

MILLION = 1_000_000
_SAME = 1e-9


@dataclass(frozen=True)
class Change:
    """One number of both sides; `factor` is the second over the first."""

    name: str
    before: float
    after: float

    @property
    def factor(self) -> float:
        """Return how many times larger the second is."""
        return self.after / self.before

    @property
    def is_same(self) -> bool:
        """Return True if both are equal."""
        return abs(self.factor - 1) < _SAME

    def as_dict(self) -> dict[str, Any]:
        """Return the fields of the JSON output."""
        return {**vars(self), "factor": self.factor}


@dataclass(frozen=True)
class Comparison:
    """Two settings side by side. A notebook shows a table."""

    before: Explanation
    after: Explanation
    changes: tuple[Change, ...]
    findings: tuple[dict[str, str], ...]
    equal_batch: tuple[dict[str, Any], ...]

    def as_dict(self) -> dict[str, Any]:
        """Return everything as plain data."""
        return {
            "before": self.before.as_dict(),
            "after": self.after.as_dict(),
            "changes": [change.as_dict() for change in self.changes],
            "findings": list(self.findings),
            "equal_batch": list(self.equal_batch),
        }

    def __str__(self) -> str:
        return describing.text("before and after", self._rows())

    def _rows(self) -> describing.Facts:
        rows = [
            (change.name, f"{change.before:,.6g} to {change.after:,.6g}") for change in self.changes
        ]
        found = [(finding["code"], finding["message"]) for finding in self.findings]
        alike = [("equal batch", describing.assigned(one)) for one in self.equal_batch]
        return [*rows, *found, *alike]

    def _repr_html_(self) -> str:
        return table("before and after", self._rows())


def compare(first: tuple[str, dict[str, Any]], second: tuple[str, dict[str, Any]]) -> Comparison:
    """Compare two settings, each given as a library's id and its settings.

    >>> compare(("sb3", {"n_envs": 8}), ("sb3", {"n_envs": 64})).changes[0].factor
    8.0
    """
    one, other = (explained(load(name), given.items()) for name, given in (first, second))
    return compared(one, other)


def compared(before: Explanation, after: Explanation) -> Comparison:
    """Compare two explanations."""
    one, other = _numbers(before.reading), _numbers(after.reading)
    both = [name for name in one if name in other and one[name] and other[name]]
    changes = tuple(Change(name, one[name], other[name]) for name in both)
    found = _findings({change.name: change for change in changes}, before, after)
    alternatives = equal_batch(before, after)
    return Comparison(before, after, changes, tuple(found), tuple(alternatives))


def _numbers(reading: Reading) -> dict[str, float]:
    size, steps = reading.sizes, reading.gradient_steps_per_update
    numbers: dict[str, float] = {
        "envs": size.envs,
        "steps": size.steps,
        "batch": size.batch,
        "mini-batch": reading.minibatch,
        "mini-batches an epoch": reading.minibatches,
        "epochs": size.epochs,
        "gradient steps an update": steps,
        "updates per million steps": MILLION / size.batch,
        "gradient steps per million steps": MILLION / size.batch * steps,
        "gradient steps per sample": steps / size.batch,
        "uses of each sample": reading.uses_per_sample,
    }
    if reading.updates:
        numbers["updates of the run"] = reading.updates
        numbers["gradient steps of the run"] = reading.updates * steps
    rate = reading.settings.values.get(reading.dialect.key("learning_rate"))
    if isinstance(rate, float) and rate > 0:
        numbers["learning rate"] = rate
    return numbers


def _findings(
    changes: dict[str, Change], before: Explanation, after: Explanation
) -> list[dict[str, str]]:
    found = [
        _refused(before.reading, after.reading),
        _batch(changes["batch"]),
        _horizon(before.reading, after.reading),
        _minibatch(changes, before, after),
        _steps(changes.get("gradient steps per sample")),
        _mixing(before.reading, after.reading),
    ]
    told = [{"code": code, "message": message} for code, message in found if message]
    if told:
        return told
    return [{"code": "same", "message": "nothing that matters for learning changed"}]


def _refused(before: Reading, after: Reading) -> tuple[str, str]:
    sides = {"before": before, "after": after}
    told = [f"{name}: {why}" for name, side in sides.items() for why in side.refusals]
    return "refused", "; ".join(told)


def _times(change: Change) -> str:
    """Write a factor in words: 8 times, or 1/8 of."""
    factor = change.factor
    return f"{factor:.4g} times" if factor >= 1 else f"1/{1 / factor:.4g} of"


def _batch(change: Change) -> tuple[str, str]:
    if change.is_same:
        return "batch", ""
    fewer, better = ("fewer", "less") if change.factor > 1 else ("more", "more")
    message = (
        f"the batch is {_times(change)} what it was: {fewer} updates for the same steps, each with "
        f"a {better} noisy gradient; as many updates need {_times(change)} the steps"
    )
    return "batch", message


def _horizon(before: Reading, after: Reading) -> tuple[str, str]:
    one, other = before.sizes.fragment, after.sizes.fragment
    if one == other:
        return "steps", ""
    return (
        "steps",
        f"advantages look at most {other} steps ahead before they bootstrap, not {one}",
    )


def _minibatch(
    changes: dict[str, Change], before: Explanation, after: Explanation
) -> tuple[str, str]:
    """Say that a mini-batch of another size needs another learning rate."""
    size, rate = changes.get("mini-batch"), changes.get("learning rate")
    if size is None or size.is_same:
        return "learning_rate", ""
    root = size.factor**0.5
    if rate is not None and not rate.is_same:
        message = (
            f"the mini-batch is {_times(size)} what it was and the learning rate {_times(rate)} "
            f"(square-root rule: {root:.3g})"
        )
        return "learning_rate", message
    message = (
        f"the mini-batch is {_times(size)} what it was and the learning rate did not follow: "
        f"try {root:.3g} times the rate (square-root rule, Adam){_or_keep(before, after)}"
    )
    return "learning_rate", message


def _or_keep(before: Explanation, after: Explanation) -> str:
    """Offer to keep the mini-batch, or say that this batch does not allow it."""
    keeping = keeping_minibatch(before, after)
    if keeping:
        return f", or keep the mini-batch ({describing.assigned(keeping)})"
    size, batch = before.reading.minibatch, after.reading.sizes.batch
    return f"; a mini-batch of {size:,} cannot be kept with this batch of {batch:,}"


def _steps(change: Change | None) -> tuple[str, str]:
    if change is None or change.is_same:
        return "gradient_steps", ""
    return "gradient_steps", f"gradient steps per sample are {_times(change)} what they were"


def _mixing(before: Reading, after: Reading) -> tuple[str, str]:
    one, other = (describing.rules(reading.rules)["mixing"]["text"] for reading in (before, after))
    return ("mixing", "") if one == other else ("mixing", f"mixing: {one}; then: {other}")
