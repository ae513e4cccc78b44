"""What probes of hand-written training loops share: arrays in, a measurement out, kept if asked."""

import time
from dataclasses import asdict, replace
from pathlib import Path
from typing import Any

import numpy as np

from nbyt.errors import UsageError
from nbyt.gradients.engines import Engine
from nbyt.integrations.arrays import live_batch
from nbyt.measure.live import BatchMeasurement, LiveBatch, Loss, measure_batch
from nbyt.numbers import COEFFICIENT, PROBABILITY, require
from nbyt.report.pages.probes import write_probes_page
from nbyt.store.manifest import manifest, versions
from nbyt.store.probes import PAGE, ProbesFolder, read_probes
from nbyt.store.run import open_as
from nbyt.train import hardware


class History:
    """A folder of records, one for each update that was measured.

    A training that goes on adds to what is there; another training's folder is refused.
    """

    def __init__(self, out: Path | str, *, title: str, library: str, **head: Any) -> None:
        facts = {"title": title, "library": library, **head}
        identity = {"command": "probe a training", **facts}
        made_by = manifest("probe a training", identity, 0, hardware.describe())
        self.folder = open_as(ProbesFolder, Path(out), identity, manifest=made_by)
        machine = {"device": hardware.describe()}
        self.folder.write_log({**facts, "machine": machine, "versions": versions()})

    def add(self, record: dict[str, Any]) -> None:
        """Nothing; the record is then on disk, in place of one of the same update."""
        self.folder.add(record)

    def write_page(self) -> Path:
        """The page of all records so far."""
        path = self.folder.path / PAGE
        write_probes_page(read_probes(self.folder.path), path)
        return path


class LoopProbe:
    """Measures batches that a loop hands over; a subclass knows the policy's engine."""

    def __init__(
        self,
        *,
        gamma: float,
        lam: float,
        value_coefficient: float,
        entropy_coefficient: float,
        normalise: bool,
        out: Any,
        title: str,
        library: str,
    ) -> None:
        require(PROBABILITY, gamma=gamma, lam=lam)
        require(COEFFICIENT, value_coefficient=value_coefficient)
        require(COEFFICIENT, entropy_coefficient=entropy_coefficient)
        self._discount = {"gamma": gamma, "lam": lam}
        self._loss = Loss(value_coefficient, entropy_coefficient, normalise)
        self._history: History | None = None
        if out is not None:
            settings = {"gamma": gamma, "lambda": lam, **asdict(self._loss)}
            self._history = History(out, title=title, library=library, settings=settings)
        self.updates, self.samples = 0, 0

    def engine(self, row: tuple[np.ndarray, np.ndarray]) -> Engine:
        """The engine of the policy; `row` is one step of it."""
        raise NotImplementedError

    def measure(
        self,
        obs: Any,
        actions: Any,
        rewards: Any,
        terminated: Any,
        truncated: Any,
        values: Any,
        *,
        last_values: Any = None,
        final_values: Any = None,
        advantages: Any = None,
        update: int | None = None,
        samples: int | None = None,
        mean_return: float | None = None,
    ) -> BatchMeasurement:
        """What the batch says about its gradients; arrays [T, N, ...] of any library.

        To be called before the policy is updated with the batch. last_values [N]: the critic's of
        the observation after the last step. final_values [T, N]: the critic's of the last
        observation of an episode that was cut. advantages [T, N]: the training's own, before they
        are normalised; without, GAE's. update, samples, mean_return: where the training stands,
        for the record; counted here where they are not given.
        """
        began = time.perf_counter()
        batch, said = live_batch(
            obs,
            actions,
            rewards,
            terminated,
            truncated,
            values,
            **self._discount,
            last_values=last_values,
            final_values=final_values,
            advantages=advantages,
        )
        measured = measure_batch(self.engine(one_row(batch)), batch, self._loss)
        measured = replace(measured, warnings=(*measured.warnings, *said))
        self.updates = self.updates + 1 if update is None else update
        self.samples = self.samples + batch.advantage.size if samples is None else samples
        if self._history is not None:
            self._history.add(
                {
                    "update": int(self.updates),
                    "samples": int(self.samples),
                    "mean_return": None if mean_return is None else float(mean_return),
                    "seconds": time.perf_counter() - began,
                    "minibatches": None,
                    "pool": None,
                    **measured.as_dict(),
                }
            )
        return measured

    def write_page(self) -> Path | None:
        """The page of everything measured so far; None without a folder."""
        return None if self._history is None else self._history.write_page()


def one_row(batch: LiveBatch) -> tuple[np.ndarray, np.ndarray]:
    """The first step of a batch, as a row."""
    return batch.observation[0, :1], batch.action[0, :1]


def require_entropy(entropy: Any, coefficient: float) -> None:
    """Nothing, where there is an entropy or no need for it."""
    if coefficient and entropy is None:
        raise UsageError(
            "an entropy_coefficient needs the entropy",
            where="entropy",
            fix="give entropy=, a function like value=, or leave the coefficient at 0",
        )
