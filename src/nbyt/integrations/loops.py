"""What probes of hand-written training loops share: arrays in, a measurement out, kept if asked."""

import time
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
from nbyt.store.files import PAGE, PROBES
from nbyt.store.manifest import manifest, versions
from nbyt.store.run import add_record, open_run, read_probes
from nbyt.train import hardware

LIMITS = (
    "some steps are truncated and no final_values are given: what would have come after them "
    "counts as 0, as after a death"
)


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
    """The batch of arrays [T, N, ...], and what must be said of it.

    Without `advantages` they are GAE's. last_values [N]: the critic's of the observation after the
    last step; without it the last step is not measured, and its own value stands in. final_values
    [T, N]: the critic's of the last observation of an episode that was cut.
    """
    shape = np.shape(reward)
    if len(shape) != 2 or 0 in shape:
        raise _wrong("rewards", shape, "[steps, envs]")
    given = {
        "obs": array(observation),
        "actions": array(action),
        "rewards": array(reward).astype(np.float32),
        "terminated": array(terminated).astype(bool),
        "truncated": array(truncated).astype(bool),
        "values": array(value).astype(np.float32),
    }
    for name, one in given.items():
        exact = name not in ("obs", "actions")
        if one.shape[:2] != shape or (exact and one.ndim != 2):
            raise _wrong(name, one.shape, f"[{shape[0]}, {shape[1]}{'' if exact else ', ...'}]")
        if one.dtype.kind == "f" and not np.isfinite(one).all():
            raise UsageError(f"{name} holds numbers that are not finite", where=name, fix="mend it")
    if advantages is not None:
        own = array(advantages).astype(np.float32)
        if own.shape != shape:
            raise _wrong("advantages", own.shape, f"[{shape[0]}, {shape[1]}]")
        return LiveBatch(given["obs"], given["actions"], own), ()
    return _with_gae(given, gamma, lam, last_values, final_values)


def array(values: Any) -> np.ndarray:
    """NumPy's array of an array of any library, on any device."""
    for name in ("detach", "cpu"):
        values = getattr(values, name)() if hasattr(values, name) else values
    return np.asarray(values)


def _with_gae(
    given: dict[str, np.ndarray], gamma: float, lam: float, last: Any, final: Any
) -> tuple[LiveBatch, tuple[str, ...]]:
    steps = len(given["rewards"])
    if last is None:
        if steps < 2:
            raise UsageError(
                "one step alone has no next value", where="last_values", fix="give last_values"
            )
        last, steps = given["values"][-1], steps - 1
    own = {name: one[:steps] for name, one in given.items()}
    cut = own["truncated"] & ~own["terminated"]
    next_value = np.concatenate([own["values"][1:], array(last).reshape(1, -1)]).astype(np.float32)
    next_value = _ended(next_value, own["terminated"], cut, final, steps)
    pool = Pool(
        own["obs"],
        own["actions"],
        own["rewards"],
        own["values"],
        next_value,
        next_value,
        own["terminated"],
        cut,
    )
    advantage = fragment_advantages(pool, gamma, lam, steps, steps).astype(np.float32)
    warnings = (LIMITS,) if final is None and cut.any() else ()
    return LiveBatch(own["obs"], own["actions"], advantage), warnings


def _ended(
    next_value: Float[np.ndarray, "T N"],
    terminated: Bool[np.ndarray, "T N"],
    cut: Bool[np.ndarray, "T N"],
    final: Any,
    steps: int,
) -> Float[np.ndarray, "T N"]:
    """The values that follow, with those of episodes that ended."""
    next_value_untruncated = np.zeros_like(next_value) if final is None else array(final)[:steps]
    if next_value_untruncated.shape != next_value.shape:
        raise _wrong(
            "final_values",
            next_value_untruncated.shape,
            f"[{', '.join(map(str, next_value.shape))}]",
        )
    return np.where(terminated, 0.0, np.where(cut, next_value_untruncated, next_value)).astype(
        np.float32
    )


def _wrong(name: str, shape: Any, wanted: str) -> UsageError:
    return UsageError(
        f"{name} has the shape {list(shape)}, not {wanted}",
        where=name,
        fix="arrays are [steps, envs, ...]: time first, envs second",
    )


class History:
    """A folder of records, one for each update that was measured.

    A training that goes on adds to what is there; another training's folder is refused.
    """

    def __init__(self, out: Path | str, *, title: str, library: str, **head: Any) -> None:
        facts = {"title": title, "library": library, **head}
        identity = {"command": "probe a training", **facts}
        made_by = manifest("probe a training", identity, 0, hardware.describe())
        self.folder = open_run(Path(out), identity, "probe a training", manifest=made_by)
        machine = {"device": hardware.describe()}
        self.folder.write(PROBES, {**facts, "machine": machine, "versions": versions()})

    def add(self, record: dict[str, Any]) -> None:
        """Nothing; the record is then on disk, in place of one of the same update."""
        add_record(self.folder, record)

    def write_page(self) -> Path:
        """The page of all records so far."""
        path = self.folder.path / PAGE.name
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
