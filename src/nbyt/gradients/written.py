"""Sums of scores that are written out, one row a step, in any array library.

For networks that nbyt did not build: only their gradients are known, not their layers. The same
sums as in `sum_slab`, from the gradients themselves; `xp` is the library's module of functions.
"""

from collections.abc import Iterator
from typing import Any

from nbyt.gradients.slab_sums import LAG_STRIDE, Lengths, SlabSums

# part -> scores [c, t, P]; part -> weights [..., c, t]; of one objective
Scores = dict[str, Any]
Weights = dict[str, Any]


def sum_written(
    xp: Any, scores: Scores, fragment: Weights, whole: Weights, steps: Lengths, lags: Lengths
) -> SlabSums:
    """Sum a slab for one objective; fragment: [K, M, c, t], whole: [W, c, t]."""
    parts = [
        _fragments(xp, scores, {part: w[place] for part, w in fragment.items()}, length)
        for place, length in enumerate(steps)
    ]
    endless = {part: w[:1] for part, w in whole.items()}
    flat = {part: w.reshape(-1, *w.shape[2:]) for part, w in fragment.items()}
    weights = {part: xp.concatenate([w, endless[part]]) for part, w in flat.items()}
    square, pairs = _step_square(xp, scores, weights), _step_pairs(xp, scores, weights)
    shape = (len(steps), -1, square.shape[-1])
    return SlabSums(
        xp.stack([vectors for vectors, _ in parts]),
        _summed(xp, "wct,ctp->wcp", whole, scores),
        xp.stack([own for _, own in parts]),
        square[:-1].reshape(shape),
        pairs[:-1].reshape(shape),
        square[-1],
        pairs[-1],
        _lags(xp, scores, {part: w[0] for part, w in endless.items()}, lags),
    )


def batch_norm_sq(xp: Any, scores: Scores, fragment: Weights, steps: Lengths) -> Any:
    """Return sums over updates of the squared norm of all chains' summed contributions, [K, M]."""
    rows = []
    for place, length in enumerate(steps):
        found = []
        for own in _each({part: w[place] for part, w in fragment.items()}):
            folded = _folded(scores, own, length)
            sums = _summed(xp, "cft,cftp->fp", folded[1], folded[0])
            found.append((sums**2).sum())
        rows.append(xp.stack(found))
    return xp.stack(rows)


def _fragments(xp: Any, scores: Scores, weights: Weights, length: int) -> tuple[Any, Any]:
    """Sum [M, c, P] and sum of squares [M, c] of the fragments of one length.

    A length beyond the slab has its sum so far, and no squares yet.
    """
    vectors, squares = [], []
    for own in _each(weights):
        time = next(iter(own.values())).shape[-1]
        folded = _folded(scores, own, min(length, time))
        sums = _summed(xp, "cft,cftp->cfp", folded[1], folded[0])
        vectors.append(sums.sum(1))
        squares.append((sums**2).sum((1, 2)) * (length <= time))
    return xp.stack(vectors), xp.stack(squares)


def _each(weights: Weights) -> Iterator[Weights]:
    """Return the weights of one lambda after the other: each writes its fragments down."""
    for place in range(len(next(iter(weights.values())))):
        yield {part: w[place] for part, w in weights.items()}


def _folded(scores: Scores, weights: Weights, length: int) -> tuple[Scores, Weights]:
    """Cut scores [c, f, t, P] and weights [c, f, t] into fragments; drop the rest."""
    count = next(iter(weights.values())).shape[-1] // length
    cut = slice(0, count * length)
    rows = {part: s[:, cut].reshape(len(s), count, length, -1) for part, s in scores.items()}
    return rows, {part: w[:, cut].reshape(len(w), count, length) for part, w in weights.items()}


def _summed(xp: Any, how: str, weights: Weights, scores: Scores) -> Any:
    return sum(xp.einsum(how, w, scores[part]) for part, w in weights.items())


def _step_square(xp: Any, scores: Scores, weights: Weights) -> Any:
    total: Any = 0.0
    for a, here in weights.items():
        for b, there in weights.items():
            norms = xp.einsum("ctp,ctp->ct", scores[a], scores[b])
            total = total + xp.einsum("jct,jct,ct->jc", here, there, norms)
    return total


def _step_pairs(xp: Any, scores: Scores, weights: Weights) -> Any:
    total: Any = 0.0
    for a, here in weights.items():
        for b, there in weights.items():
            grams = xp.einsum("ctp,dtp->tcd", scores[a], scores[b])
            own = xp.einsum("tcc->tc", grams)
            total = total + xp.einsum("jct,tcd,jdt->jc", here, grams, there)
            total = total - xp.einsum("jct,tc,jct->jc", here, own, there)
    return total


def _lags(xp: Any, scores: Scores, weights: Weights, lags: Lengths) -> Any:
    chains, time = next(iter(weights.values())).shape
    found = []
    for lag in lags:
        early, late = slice(0, time - lag, LAG_STRIDE), slice(lag, time, LAG_STRIDE)
        total: Any = 0.0
        for a, here in weights.items():
            for b, there in weights.items():
                products = xp.einsum("ctp,ctp->ct", scores[a][:, early], scores[b][:, late])
                total = total + (here[:, early] * there[:, late] * products).sum(1)
        found.append(total)
    return xp.stack(found) if found else xp.zeros((0, chains))
