"""Cosines of single steps: with their own batch, with another one, and along an episode.

All from contributions that are written out, [T, n, P]; what is 0 has no direction and no cosine.
"""

from collections.abc import Sequence
from typing import Any

import numpy as np
from jaxtyping import Bool, Float

from nbyt.stats.cosines import cosine_matrix
from nbyt.stats.estimate import Estimate, mean, undetermined

_FEWEST = 8
SHOWN = 5


def short(values: Any) -> Any:
    """The numbers with four digits, as plain lists; None for what is not a number."""
    if isinstance(values, (np.ndarray, list, tuple)):
        return [short(one) for one in values]
    return None if np.isnan(values) else float(f"{float(values):.4g}")


def cosines(
    first: Float[np.ndarray, "... P"], second: Float[np.ndarray, "... P"]
) -> Float[np.ndarray, "..."]:
    """Cosines row by row; nan where a row is 0."""
    lengths = np.linalg.norm(first, axis=-1) * np.linalg.norm(second, axis=-1)
    return np.sum(first * second, axis=-1) / np.where(lengths > 0, lengths, np.nan)


def grid(batches: Float[np.ndarray, "B s P"]) -> dict[str, Any]:
    """Batch 0's samples as points (norm, cosine with batch j's mean), for the first few batches.

    left_out: samples whose contribution is 0. matrix: cosines between the batches' means.
    """
    samples, means = batches[0], batches[:SHOWN].mean(axis=1)
    norm = np.linalg.norm(samples, axis=1)
    kept = norm > 0
    return {
        "norm": short(norm[kept]),
        "cosine": [short(cosines(samples[kept], one[None])) for one in means],
        "left_out": int(np.sum(~kept)),
        "matrix": short(cosine_matrix(means @ means.T)),
    }


def leanings(batches: Float[np.ndarray, "B s P"], envs: int) -> dict[str, Any]:
    """Mean cosine of a batch's samples with several means, and how far the first two lean more.

    own: their own batch's. without_step, without_env: that without the sample, and without all
    of its env's rollout. other: that of another batch. Two batches make one replicate, so that
    replicates share nothing. Sample t N + n of a batch is step t of env n.
    """
    pairs = [_pair(batches[at : at + 2], envs) for at in range(0, len(batches) - 1, 2)]
    known = np.array([one for one in pairs if not np.isnan(one).any()]).reshape(-1, 4)
    own, step, env, other = known.T
    found = {
        "own": own,
        "without_step": step,
        "without_env": env,
        "other": other,
        "own_less_other": own - other,
        "without_step_less_other": step - other,
        "without_env_less_other": env - other,
    }
    return {
        "pairs": len(known),
        **{name: _estimate(values).as_dict() for name, values in found.items()},
    }


def _pair(two: Float[np.ndarray, "2 s P"], envs: int) -> Float[np.ndarray, " 4"]:
    return (_one(two[0], two[1], envs) + _one(two[1], two[0], envs)) / 2


def _one(
    batch: Float[np.ndarray, "s P"], other: Float[np.ndarray, "s P"], envs: int
) -> Float[np.ndarray, " 4"]:
    count = len(batch)
    total, by_env = batch.sum(axis=0), batch.reshape(-1, envs, batch.shape[1]).sum(axis=0)
    rollouts = np.tile(by_env, (count // envs, 1))
    means = (total[None], total - batch, total - rollouts, other.sum(axis=0)[None])
    found = [cosines(batch, one) for one in means]
    return np.array([np.nanmean(one) if np.isfinite(one).any() else np.nan for one in found])


def along_episode(
    steps: Float[np.ndarray, "T n P"], within: Bool[np.ndarray, "T n"], bin: int
) -> dict[str, Any]:
    """Cosine of each step with its episode's mean, by position; and with the other steps' mean.

    within: the steps of the episode that counts in each chain. The unit is the episode: steps in
    a bin of positions are averaged first.
    """
    own = steps * within[..., None]
    total = own.sum(axis=0)
    lines = {"with": cosines(own, total[None]), "without": cosines(own, total[None] - own)}
    places = range(0, len(steps), bin)
    found: dict[str, Any] = {"position": [place + bin / 2 for place in places]}
    for name, values in lines.items():
        found[name] = [_by_episode(values[place : place + bin]).as_dict() for place in places]
        found[f"mean_{name}"] = _by_episode(values).as_dict()
    found["left_out"] = int(np.sum(within) - np.sum(np.isfinite(lines["with"])))
    found["steps"] = int(np.sum(within))
    return found


def _by_episode(values: Float[np.ndarray, "t n"]) -> Estimate:
    counts = np.sum(np.isfinite(values), axis=0)
    sums = np.nansum(values, axis=0)
    return _estimate(sums[counts > 0] / counts[counts > 0])


def _estimate(values: Sequence[float] | np.ndarray) -> Estimate:
    if len(values) < _FEWEST:
        return undetermined(f"fewer than {_FEWEST} replicates have a direction", len(values))
    return mean(np.asarray(values))
