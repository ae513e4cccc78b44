"""A training's arrays, as its own loop has them, checked and made into a batch to be measured."""

from typing import Any

import numpy as np
from jaxtyping import Bool, Float

from nbyt.collect.pool import Pool
from nbyt.errors import UsageError
from nbyt.gradients.spec import fragment_advantages
from nbyt.measure.live import LiveBatch

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
