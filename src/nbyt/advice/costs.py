"""What an update of each layout costs: timed here, read from a file, or as on parallel hardware."""

from dataclasses import dataclass
from pathlib import Path

import numpy as np
from jaxtyping import Float

from nbyt.errors import UsageError
from nbyt.numbers import OVERHEAD
from nbyt.stats.prior import UNIT_STEPS
from nbyt.store.files import COSTS
from nbyt.training.costs import Costs, costs_from

MEASURED, PARALLEL = "measured", "parallel"
# Vector steps' worth of time that an update of parallel hardware takes beyond its T.
_OVERHEAD = 16.0
# Where the longest T costs so many times the shortest, it is a question of parallel hardware.
_FAR = 4.0


@dataclass(frozen=True)
class CostSource:
    """Where costs come from, as the user writes it.

    overhead: c of "parallel:c", where an update costs T + c. file: costs that were timed elsewhere.
    """

    text: str
    overhead: float | None = None
    file: Costs | None = None

    @property
    def timed_here(self) -> bool:
        """Return True if updates are timed on this machine."""
        return self.text == MEASURED


def cost_source(text: str) -> CostSource:
    """Read `measured`, `parallel`, `parallel:16`, or the name of a file of `nbyt time`."""
    if text == MEASURED:
        return CostSource(MEASURED)
    kind, colon, overhead = text.partition(":")
    if kind == PARALLEL:
        value = OVERHEAD.read(overhead, "costs") if colon else _OVERHEAD
        return CostSource(f"{PARALLEL}:{value:g}", overhead=value)
    path = Path(text)
    if not path.is_file():
        raise UsageError(
            f"'{text}' is neither a way to know costs nor a file",
            where="costs",
            fix="give measured, parallel, parallel:16, or the file of `nbyt time ENV --out FILE`",
        )
    return CostSource(str(path.resolve()), file=costs_from(COSTS.read(path.resolve())))


@dataclass(frozen=True)
class UpdateCosts:
    """The cost of an update with each T, in seconds if they were timed, else in vector steps."""

    source: str
    steps: tuple[int, ...]
    values: Float[np.ndarray, " steps"]
    timed: Costs | None = None

    def of(self, steps: int) -> float:
        """Return the cost of an update with this T."""
        return float(self.values[self.steps.index(steps)])

    @property
    def unit(self) -> float:
        """Return the cost of an update with T = 32: a training with it is the unit of a budget."""
        octaves = np.log2(np.array(self.steps, float))
        return float(np.exp(np.interp(np.log2(UNIT_STEPS), octaves, np.log(self.values))))

    @property
    def kind(self) -> str:
        """Return the costs of the proving ground that these are most like."""
        if self.source.startswith(PARALLEL):
            return PARALLEL
        spread = float(self.values.max() / self.values.min())
        return PARALLEL if spread >= _FAR else MEASURED

    @property
    def name(self) -> str:
        """Return where the costs come from as advice.json keeps it; of a file only its name."""
        return self.source if self.timed is None else Path(self.source).name

    @property
    def in_words(self) -> str:
        """Say where the costs come from."""
        if self.source == MEASURED:
            return "updates timed on this machine"
        if self.timed is None:
            c = self.source.partition(":")[2]
            return f"T + {c} vector steps an update, whatever N is"
        return f"updates timed elsewhere, from {Path(self.source).name}"


def same_samples(steps: tuple[int, ...]) -> UpdateCosts:
    """Return equal costs for every T: what a budget in samples pays for."""
    return UpdateCosts("samples", steps, np.ones(len(steps)))


def known_costs(
    source: CostSource, steps: tuple[int, ...], batch: int, timed: Costs | None = None
) -> UpdateCosts:
    """Return the costs of these T. timed: updates that were timed here."""
    if source.overhead is not None:
        return UpdateCosts(source.text, steps, np.array(steps, float) + source.overhead)
    costs = source.file or timed
    assert costs is not None, "costs are timed, or read from a file"
    if len(costs.batches) == 1 and batch not in costs.batches:
        raise UsageError(
            f"the costs are of a batch of {min(costs.batches)}, not of {batch}",
            where="costs",
            fix=f"time that batch too: nbyt time ENV --batch {batch} --out FILE",
        )
    seconds = costs.seconds([(batch // one, one) for one in steps])
    return UpdateCosts(
        source.text, steps, np.array([float(one.value or 0.0) for one in seconds]), costs
    )
