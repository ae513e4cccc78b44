"""Numbers for Stable-Baselines3's own logger, from where TensorBoard, CSV and W&B have them.

The table on the screen shows the few that one looks at; files get all, with their intervals.
"""

from collections.abc import Sequence
from typing import Any

from nbyt.measure.live import BatchMeasurement

_SHOWN = ("actor_ess_ratio", "actor_noise_scale", "actor_alignment")
_POOLED = ("bias_factor", "alignment", "cosine")


def log_batch(logger: Any, measured: BatchMeasurement) -> None:
    """Nothing; the logger then has every estimate of the batch."""
    for objective, gradient in measured.gradients.items():
        for name, number in gradient.as_dict().items():
            _record(logger, f"{objective}_{name}", number)


def log_pool(logger: Any, pool: dict[str, Any], steps: int) -> None:
    """Nothing; the logger then has the training's own layout beside the true gradient."""
    for layout in pool["layouts"]:
        if layout["steps"] == steps:
            for objective in ("actor", "critic", "total"):
                for name in _POOLED:
                    _record(logger, f"{objective}_{name}", layout[objective][name])
    _record(logger, "explained_variance", pool["explained_variance"])


def log_minibatches(logger: Any, rows: Sequence[dict[str, Any]]) -> None:
    """Nothing; the logger then has the first and the last epoch of the update, and its extremes."""
    if not rows:
        return
    for word, epoch in (("first", rows[0]["epoch"]), ("last", rows[-1]["epoch"])):
        own = [row for row in rows if row["epoch"] == epoch]
        for name in ("cosine", "clip_fraction", "approximate_kl"):
            known = [row[name] for row in own if row[name] is not None]
            if known:
                _put(logger, f"minibatch_{name}_{word}", sum(known) / len(known))
    _put(logger, "ratio_low", min(row["ratio_low"] for row in rows))
    _put(logger, "ratio_high", max(row["ratio_high"] for row in rows))


def _record(logger: Any, name: str, number: dict[str, Any]) -> None:
    for end in ("value", "low", "high"):
        if number[end] is not None:
            _put(logger, name if end == "value" else f"{name}_{end}", number[end])


def _put(logger: Any, name: str, value: float) -> None:
    logger.record(f"nbyt/{name}", value, exclude=None if name in _SHOWN else "stdout")
