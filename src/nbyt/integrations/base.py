"""The base of all GradientProbe classes, and of those in training loops that users write.

Arrays of any library go in, a measurement comes out; a folder keeps its record if asked.
"""

import time
from contextlib import AbstractContextManager, nullcontext
from dataclasses import asdict, replace
from pathlib import Path
from typing import Any

import numpy as np
from jaxtyping import Bool, Float

from nbyt.collect.pool import Pool
from nbyt.errors import UsageError
from nbyt.gradients.engines import Engine
from nbyt.gradients.spec import fragment_advantages
from nbyt.measure.live import BatchMeasurement, LiveBatch, Loss, measure_batch
from nbyt.numbers import COEFFICIENT, PROBABILITY, require
from nbyt.report.pages.probes import write_probes_page
from nbyt.results.values import Data
from nbyt.store.files import PAGE, PROBES
from nbyt.store.manifest import manifest, versions
from nbyt.store.run import Folder, add_record, open_run, read_probes
from nbyt.train import hardware

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
        write_probes_page(read_probes(self._folder.path), path)
        return path

    def _open_folder(self, out: Path | str, *, title: str, library: str, **head: Any) -> None:
        """Open the folder of the records.

        A training that goes on adds to what is there; another training's folder is refused.
        """
        facts = {"title": title, "library": library, **head}
        identity = {"command": "probe a training", **facts}
        made_by = manifest("probe a training", identity, 0, hardware.describe())
        self._folder = open_run(Path(out), identity, "probe a training", manifest=made_by)
        machine = {"device": hardware.describe()}
        self._folder.write(PROBES, {**facts, "machine": machine, "versions": versions()})

    def _save(self, record: Data) -> None:
        """Save a record in the folder, if there is one, in place of one of the same update."""
        if self._folder is not None:
            add_record(self._folder, record)


def probe_record(
    measured: BatchMeasurement,
    *,
    update: int,
    samples: int,
    mean_return: float | None,
    seconds: float,
    pool: Data | None = None,
) -> Data:
    """Return the record of an update; that of its mini-batches is added later."""
    return {
        "update": int(update),
        "samples": int(samples),
        "mean_return": None if mean_return is None else float(mean_return),
        "seconds": seconds,
        "minibatches": None,
        "pool": pool,
        **measured.as_dict(),
    }


class LoopProbe(BaseProbe):
    """Measures batches that a training loop hands over; a subclass knows the policy's engine."""

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
        entropy: Any,
    ) -> None:
        require(PROBABILITY, gamma=gamma, lam=lam)
        require(COEFFICIENT, value_coefficient=value_coefficient)
        require(COEFFICIENT, entropy_coefficient=entropy_coefficient)
        if entropy_coefficient and entropy is None:
            raise UsageError(
                "an entropy_coefficient needs the entropy",
                where="entropy",
                fix="give entropy=, a function like value=, or leave the coefficient at 0",
            )
        self._discount = {"gamma": gamma, "lam": lam}
        self._loss = Loss(value_coefficient, entropy_coefficient, normalise)
        if out is not None:
            settings = {"gamma": gamma, "lambda": lam, **asdict(self._loss)}
            self._open_folder(out, title=title, library=library, settings=settings)
        self.updates, self.samples = 0, 0

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
        with self.frozen():
            batch, warnings = live_batch(
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
            row = batch.observation[0, :1], batch.action[0, :1]
            measured = measure_batch(self.engine(row), batch, self._loss)
        measured = replace(measured, warnings=(*measured.warnings, *warnings))
        self.updates = self.updates + 1 if update is None else update
        self.samples = self.samples + batch.advantage.size if samples is None else samples
        record = probe_record(
            measured,
            update=self.updates,
            samples=self.samples,
            mean_return=mean_return,
            seconds=time.perf_counter() - began,
        )
        self._save(record)
        return measured


def live_batch(
    observation: Any,
    action: Any,
    reward: Any,
    terminated: Any,
    truncated: Any,
    value: Any,
    *,
    gamma: float,
    lam: float,
    last_values: Any = None,
    final_values: Any = None,
    advantages: Any = None,
) -> tuple[LiveBatch, tuple[str, ...]]:
    """Check arrays [T, N, ...] and return them as a batch, with warnings about it.

    The arguments are those of `LoopProbe.measure`. Without last_values the last step is not
    measured: its value stands for what follows the step before it.
    """
    shape = np.shape(reward)
    if len(shape) != 2 or 0 in shape:
        raise _wrong_shape("rewards", shape, "[steps, envs]")
    arrays = {
        "obs": array(observation),
        "actions": array(action),
        "rewards": array(reward).astype(np.float32),
        "terminated": array(terminated).astype(bool),
        "truncated": array(truncated).astype(bool),
        "values": array(value).astype(np.float32),
    }
    for name, values in arrays.items():
        exact = name not in ("obs", "actions")
        if values.shape[:2] != shape or (exact and values.ndim != 2):
            wanted = f"[{shape[0]}, {shape[1]}{'' if exact else ', ...'}]"
            raise _wrong_shape(name, values.shape, wanted)
        if values.dtype.kind == "f" and not np.isfinite(values).all():
            raise UsageError(f"{name} holds numbers that are not finite", where=name, fix="fix it")
    if advantages is not None:
        advantage = array(advantages).astype(np.float32)
        if advantage.shape != shape:
            raise _wrong_shape("advantages", advantage.shape, f"[{shape[0]}, {shape[1]}]")
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
    cut = used["truncated"] & ~used["terminated"]
    next_value = np.concatenate([used["values"][1:], array(last).reshape(1, -1)]).astype(np.float32)
    next_value = _at_ends(next_value, used["terminated"], cut, final, steps)
    pool = Pool(
        used["obs"],
        used["actions"],
        used["rewards"],
        used["values"],
        next_value,
        next_value,
        used["terminated"],
        cut,
    )
    advantage = fragment_advantages(pool, gamma, lam, steps, steps).astype(np.float32)
    warnings = (LIMITS,) if final is None and cut.any() else ()
    return LiveBatch(used["obs"], used["actions"], advantage), warnings


def _at_ends(
    next_value: Float[np.ndarray, "T N"],
    terminated: Bool[np.ndarray, "T N"],
    cut: Bool[np.ndarray, "T N"],
    final: Any,
    steps: int,
) -> Float[np.ndarray, "T N"]:
    """Return the next values with those at the ends of episodes filled in."""
    after_cut = np.zeros_like(next_value) if final is None else array(final)[:steps]
    if after_cut.shape != next_value.shape:
        wanted = f"[{', '.join(map(str, next_value.shape))}]"
        raise _wrong_shape("final_values", after_cut.shape, wanted)
    values = np.where(terminated, 0.0, np.where(cut, after_cut, next_value))
    return values.astype(np.float32)


def _wrong_shape(name: str, shape: Any, wanted: str) -> UsageError:
    return UsageError(
        f"{name} has the shape {list(shape)}, not {wanted}",
        where=name,
        fix="arrays are [steps, envs, ...]: time first, envs second",
    )
