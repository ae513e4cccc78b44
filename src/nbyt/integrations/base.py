"""The base of all GradientProbe classes, and of those in training loops that users write.

Arrays of any library go in, a measurement comes out; a folder keeps its record if asked.
"""

import time
from collections.abc import Mapping
from contextlib import AbstractContextManager, nullcontext
from dataclasses import asdict, replace
from pathlib import Path
from typing import Any

import numpy as np
from jaxtyping import Float
from msgspec import structs

from nbyt.collect.pool import Pool
from nbyt.errors import UsageError
from nbyt.gradients.engines import Engine
from nbyt.gradients.spec import fragment_advantages
from nbyt.integrations.evidence import Evidence, RolloutFacts, ages_within, rollout_facts
from nbyt.integrations.rules import Summary, summarise
from nbyt.measure.live import BatchMeasurement, LiveBatch, Loss, measure_batch
from nbyt.numbers import COEFFICIENT, PROBABILITY, require
from nbyt.report.pages.probes import probes_page
from nbyt.results.probes import BatchGradient, Gradients, ProbedPool, ProbeLog, ProbeRecord, Units
from nbyt.results.values import Estimate, Machine, plain
from nbyt.store.files import PAGE, PROBES
from nbyt.store.manifest import manifest, versions
from nbyt.store.run import Folder, add_record, open_run, read_probes
from nbyt.training import hardware

LIMITS = (
    "some steps are truncated and no final_values are given: what would have come after them "
    "counts as 0, as after a death"
)


class BaseProbe:
    """A probe of a training: one record for each update that is measured."""

    _folder: Folder | None = None

    def write_page(self) -> Path | None:
        """Write the page of everything measured so far; return None without a folder."""
        if self._folder is None:
            return None
        path = self._folder.path / PAGE.name
        probes_page(read_probes(self._folder.path)).write(path)
        return path

    def _open_folder(self, out: Path | str, log: ProbeLog) -> None:
        """Open the folder of the records.

        A training that goes on adds to what is there; another training's folder is refused.
        """
        command, device = "probe a training", hardware.describe()
        identity = {"command": command, **plain(log)}
        made_by = manifest(command, identity, 0, device)
        self._folder = open_run(Path(out), identity, command, manifest=made_by)
        log = structs.replace(log, machine=Machine(device=device), versions=versions())
        self._folder.write(PROBES, log)

    def _save(self, record: ProbeRecord) -> None:
        """Save a record in the folder, if there is one, in place of one of the same update."""
        if self._folder is not None:
            add_record(self._folder, plain(record))


def probe_record(
    measured: BatchMeasurement,
    *,
    update: int,
    samples: int,
    mean_return: float | None,
    seconds: float,
    pool: ProbedPool | None = None,
) -> ProbeRecord:
    """Return the record of an update; that of its mini-batches is added later."""
    data = measured.as_dict()
    gradients = {
        objective: BatchGradient(**{name: Estimate(**number) for name, number in found.items()})
        for objective, found in data["gradients"].items()
    }
    return ProbeRecord(
        update=int(update),
        samples=int(samples),
        mean_return=None if mean_return is None else float(mean_return),
        seconds=seconds,
        units=Units(**data["units"]),
        gradients=Gradients(**gradients),
        minibatches=None,
        pool=pool,
        warnings=measured.warnings,
    )


class LoopProbe(BaseProbe):
    """Measures batches that a training loop hands over; a subclass knows the policy's engine."""

    def __init__(
        self,
        gamma: float,
        lam: float,
        value_coefficient: float,
        entropy_coefficient: float,
        normalise: bool,
        *,
        out: Any,
        title: str,
        library: str,
        entropy: Any,
    ) -> None:
        gamma, lam = require(PROBABILITY, gamma=gamma, lam=lam)
        value_coefficient, entropy_coefficient = require(
            COEFFICIENT,
            value_coefficient=value_coefficient,
            entropy_coefficient=entropy_coefficient,
        )
        if entropy_coefficient and entropy is None:
            raise UsageError(
                "an entropy_coefficient needs the entropy",
                where="entropy",
                fix="give entropy=, a function like value=, or leave the coefficient at 0",
            )
        self._discount = {"gamma": gamma, "lam": lam}
        self._loss = Loss(value_coefficient, entropy_coefficient, bool(normalise))
        if out is not None:
            settings = {"gamma": gamma, "lambda": lam, **asdict(self._loss)}
            self._open_folder(out, ProbeLog(title=title, library=library, settings=settings))
        self.updates, self.samples = 0, 0
        self._records: list[ProbeRecord] = []
        self._rollouts: list[RolloutFacts] = []
        self._shape = (1, 1)

    def summary(
        self,
        *,
        minibatch: int | None = None,
        epochs: int | None = None,
        updates: int | None = None,
    ) -> Summary:
        """Say what batches were worth, and what to change, from what was measured so far.

        minibatch, epochs, updates: those of the training, updates of all of it; rules that need
        one of them are silent without it.
        """
        steps, envs = self._shape
        evidence = Evidence(envs, steps, minibatch, epochs, updates)
        evidence.records, evidence.rollouts = self._records, self._rollouts
        return summarise(evidence)

    def engine(self, row: tuple[np.ndarray, np.ndarray]) -> Engine:
        """Return the engine of the policy; `row` is one step of it."""
        raise NotImplementedError

    def frozen(self) -> AbstractContextManager[Any]:
        """Return a context in which the policy stays as it is."""
        return nullcontext()

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
        """Measure the gradients of a batch, before the policy is updated with it.

        Parameters
        ----------
        obs, actions, rewards, terminated, truncated, values
            Arrays [T, N, ...] of any library: time first, envs second.
        last_values
            [N], the critic's values of the observations after the last step. Without them the last
            step is not measured.
        final_values
            [T, N], the critic's values of the last observations of truncated episodes.
        advantages
            [T, N], those of the training before they are normalised; GAE's by default.
        update, samples, mean_return
            The progress of the training, for the record; counted by the probe by default.
        """
        began = time.perf_counter()
        arrays = {"obs": obs, "actions": actions, "rewards": rewards, "values": values}
        arrays |= {"terminated": terminated, "truncated": truncated}
        ends = {"last_values": last_values, "final_values": final_values, "advantages": advantages}
        with self.frozen():
            batch, warnings = live_batch(arrays, **self._discount, **ends)
            row = batch.observation[0, :1], batch.action[0, :1]
            measured = measure_batch(self.engine(row), batch, self._loss)
        measured = replace(measured, warnings=(*measured.warnings, *warnings))
        self.updates = self.updates + 1 if update is None else update
        self.samples = self.samples + batch.advantage.size if samples is None else samples
        self._look(arrays, batch.advantage)
        record = probe_record(
            measured,
            update=self.updates,
            samples=self.samples,
            mean_return=mean_return,
            seconds=time.perf_counter() - began,
        )
        self._records.append(record)
        self._save(record)
        return measured

    def _look(self, given: Mapping[str, Any], advantage: Float[np.ndarray, "T N"]) -> None:
        """Add what the batch shows to the evidence of `summary`."""
        ends = array(given["terminated"]).astype(bool) | array(given["truncated"]).astype(bool)
        self._shape = ends.shape
        values = array(given["values"])[: len(advantage)]
        facts = rollout_facts(ages_within(ends), int(ends.sum()), values, values + advantage)
        self._rollouts.append(facts)


_KINDS = {"rewards": np.float32, "values": np.float32, "terminated": bool, "truncated": bool}


def live_batch(
    given: Mapping[str, Any],
    *,
    gamma: float,
    lam: float,
    last_values: Any = None,
    final_values: Any = None,
    advantages: Any = None,
) -> tuple[LiveBatch, tuple[str, ...]]:
    """Check arrays [T, N, ...] and return them as a batch, with warnings about it.

    given: the arrays of `LoopProbe.measure` by name. Without last_values the last step is not
    measured: its value stands for what follows the step before it.
    """
    shape = np.shape(given["rewards"])
    if len(shape) != 2 or 0 in shape:
        raise _wrong_shape("rewards", shape, "[steps, envs]")
    arrays = {name: array(values) for name, values in given.items()}
    arrays |= {name: arrays[name].astype(kind) for name, kind in _KINDS.items()}
    for name, values in arrays.items():
        if values.shape[:2] != shape or (name in _KINDS and values.ndim != 2):
            wanted = f"[{shape[0]}, {shape[1]}{'' if name in _KINDS else ', ...'}]"
            raise _wrong_shape(name, values.shape, wanted)
        if values.dtype.kind == "f" and not np.isfinite(values).all():
            raise UsageError(f"{name} holds numbers that are not finite", where=name, fix="fix it")
    if advantages is not None:
        advantage = _as_rows("advantages", advantages, shape)
        return LiveBatch(arrays["obs"], arrays["actions"], advantage), ()
    return _with_gae(arrays, gamma, lam, last_values, final_values)


def array(values: Any) -> np.ndarray:
    """Return an array of any library, on any device, as NumPy's."""
    for name in ("detach", "cpu"):
        values = getattr(values, name)() if hasattr(values, name) else values
    return np.asarray(values)


def _with_gae(
    arrays: dict[str, np.ndarray], gamma: float, lam: float, last: Any, final: Any
) -> tuple[LiveBatch, tuple[str, ...]]:
    steps = len(arrays["rewards"])
    if last is None:
        if steps < 2:
            raise UsageError(
                "one step alone has no next value", where="last_values", fix="give last_values"
            )
        last, steps = arrays["values"][-1], steps - 1
    used = {name: values[:steps] for name, values in arrays.items()}
    obs, actions, rewards, values = (used[k] for k in ("obs", "actions", "rewards", "values"))
    terminated, cut = used["terminated"], used["truncated"] & ~used["terminated"]
    after_cut = 0.0 if final is None else _as_rows("final_values", array(final)[:steps], cut.shape)
    next_value = np.concatenate([values[1:], array(last).reshape(1, -1)])
    next_value = np.where(terminated, 0.0, np.where(cut, after_cut, next_value)).astype(np.float32)
    pool = Pool(obs, actions, rewards, values, next_value, next_value, terminated, cut)
    advantage = fragment_advantages(pool, gamma, lam, steps, steps).astype(np.float32)
    return LiveBatch(obs, actions, advantage), (LIMITS,) if final is None and cut.any() else ()


def _as_rows(name: str, given: Any, shape: tuple[int, ...]) -> Float[np.ndarray, "T N"]:
    values = array(given).astype(np.float32)
    if values.shape != shape:
        raise _wrong_shape(name, values.shape, f"[{shape[0]}, {shape[1]}]")
    return values


def _wrong_shape(name: str, shape: Any, wanted: str) -> UsageError:
    return UsageError(
        f"{name} has the shape {list(shape)}, not {wanted}",
        where=name,
        fix="arrays are [steps, envs, ...]: time first, envs second",
    )
