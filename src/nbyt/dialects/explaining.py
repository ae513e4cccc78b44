"""Explain a library's settings: the layout, the whole schedule, and every trap."""

from collections.abc import Iterable
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from nbyt.dialects import describing
from nbyt.dialects.describing import table
from nbyt.dialects.dialect import Dialect, load
from nbyt.dialects.reading import Reading, read
from nbyt.dialects.settings import Pair, settings
from nbyt.dialects.traps import Trap, traps

MOST_SIZES = 100_000


@dataclass(frozen=True, repr=False)
class Explanation:
    """A library's settings explained in our words. A notebook shows it as a table."""

    reading: Reading

    @cached_property
    def traps(self) -> tuple[Trap, ...]:
        """Return every trap that applies, the worst first."""
        return traps(self.reading)

    @property
    def dialect(self) -> Dialect:
        """Return the dialect of the library."""
        return self.reading.dialect

    @property
    def layout(self) -> dict[str, float]:
        """Return the sizes by the names of the JSON output."""
        size = self.reading.sizes
        return {
            "envs": size.envs,
            "steps": size.steps,
            "batch": size.batch,
            "minibatch": self.reading.minibatch,
            "minibatches": self.reading.minibatches,
            "epochs": size.epochs,
            "fragment": size.fragment,
        }

    @property
    def schedule(self) -> dict[str, Any]:
        """Return updates, gradient steps and sizes of the mini-batches."""
        reading, steps = self.reading, self.reading.gradient_steps_per_update
        updates, cut = reading.updates, self.reading.cut
        return {
            "updates": updates,
            "gradient_steps_per_update": steps,
            "gradient_steps": None if updates is None else updates * steps,
            "minibatch_sizes": cut.sizes() if cut.count <= MOST_SIZES else None,
            "minibatch_runs": [list(run) for run in cut.runs],
            "sizes_of": "update" if cut.whole_update else "epoch",
            "samples_per_gradient_step": cut.samples / cut.count if cut.count else None,
            "uses_per_sample": reading.uses_per_sample,
            "left_out_per_epoch": cut.left_out,
        }

    @property
    def filled_defaults(self) -> dict[str, Any]:
        """Return the library's own values for what was not given."""
        return dict(self.reading.settings.filled)

    def as_dict(self) -> dict[str, Any]:
        """Return everything as plain data."""
        return {
            "dialect": self.dialect.id,
            "library": self.dialect.library,
            "version": self.dialect.version,
            "layout": self.layout,
            "schedule": self.schedule,
            "rules": describing.rules(self.reading.rules),
            "traps": [trap.as_dict() for trap in self.traps],
            "filled_defaults": self.filled_defaults,
            "given": dict(self.reading.settings.given),
            "ignored": list(self.reading.settings.ignored),
            "notes": list(self.dialect.notes),
        }

    def __repr__(self) -> str:
        shape = describing.grid(self.reading)
        return f"Explanation({self.dialect.id}: {shape}, traps: {len(self.traps)})"

    def __str__(self) -> str:
        return describing.text(describing.title(self.dialect), self._rows())

    def _rows(self) -> describing.Facts:
        told = [(f"trap: {trap.code}", f"{trap.message}. Fix: {trap.fix}") for trap in self.traps]
        return [*describing.facts(self.reading), *told]

    def _repr_html_(self) -> str:
        return table(describing.title(self.dialect), self._rows())


def explain(dialect: str, /, **given: Any) -> Explanation:
    """Explain a library's settings, given by its own names: layout, schedule and traps.

    >>> explain("sb3", n_envs=8, n_steps=125, batch_size=64).schedule["gradient_steps_per_update"]
    160
    """
    return explained(load(dialect), given.items())


def explained(dialect: Dialect, pairs: Iterable[Pair], *, lenient: bool = False) -> Explanation:
    """Explain (name, value) pairs, which may repeat a name."""
    return Explanation(read(dialect, settings(dialect, pairs, lenient=lenient)))
