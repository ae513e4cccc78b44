"""Batch against batch on Pendulum: cosines of batch means, and of steps some lags apart.

Each of two layouts trains a policy. Every checkpoint of both is measured with fresh batches of
either layout, so that layouts are compared at one policy, not each at its own.
"""

from collections.abc import Iterable
from dataclasses import replace

import numpy as np
from jaxtyping import Float

from nbyt.collect.pool import Pool
from nbyt.layout import Layout
from nbyt.policy.actor_critic import Stage
from nbyt.results.values import Data
from nbyt.stats.estimate import mean
from nbyt.stats.lags import LagProducts, lag_profile
from nbyt.stats.variance import dimension
from nbyt.training.plan import PPOSettings
from nbyt_studies.comparisons import (
    cosine_matrix,
    expected_cosine,
    mean_cosine,
    noise_cosine,
    random_cosine,
)
from nbyt_studies.experiment import Context, Experiment, Training
from nbyt_studies.measure.batches import (
    LaggedProducts,
    batch_advantages,
    fragment_means,
    lagged_products,
)
from nbyt_studies.post.experiments.grids import SHOWN, batches_of, name, short, trainings_of

LAGS = (1, 5, 10, 20)
HISTOGRAM_LAGS = (1, 5, 10, 40)
EDGES = np.linspace(-1.0, 1.0, 41)


def lag_correlations(
    products: LaggedProducts, weight: Float[np.ndarray, "T n"], gram: Float[np.ndarray, "n n"]
) -> Data:
    """Return correlation of contributions by lag, within a rollout and with another env's."""
    within = _weighted(products.within, weight, weight)
    across = _weighted(products.across, weight, np.roll(weight, -1, axis=1))
    rows = LagProducts(
        lags=np.array(LAGS),
        within=np.stack([within[lag].mean(axis=0) for lag in LAGS]),
        square=np.mean(products.square * weight**2, axis=0),
        means=gram,
        step_pairs=across[0].mean(axis=0),
        partners=np.ones(len(gram), int),
    )
    others = replace(rows, within=np.stack([across[lag].mean(axis=0) for lag in LAGS]))
    return {
        "within": [one.as_dict() for one in lag_profile(rows).within],
        "across": [one.as_dict() for one in lag_profile(others).within],
    }


def _weighted(
    products: dict[int, np.ndarray], early: Float[np.ndarray, "T n"], late: Float[np.ndarray, "T n"]
) -> dict[int, np.ndarray]:
    return {
        lag: scores * early[: len(early) - lag] * late[lag:] for lag, scores in products.items()
    }


def cosine_histograms(products: LaggedProducts, weight: Float[np.ndarray, "T n"]) -> Data:
    """Return shares of pairs in each bin of the cosine, and the mean cosine, by lag."""
    length = np.sqrt(products.square) * np.abs(weight)
    histograms: Data = {"heights": [], "mean": []}
    for lag in HISTOGRAM_LAGS:
        pairs = _weighted({lag: products.within[lag]}, weight, weight)[lag]
        both = length[: len(length) - lag] * length[lag:]
        cosine = pairs[both > 0] / both[both > 0]
        counts, _ = np.histogram(np.clip(cosine, -1, 1), EDGES)
        histograms["heights"].append(counts / len(cosine))
        histograms["mean"].append(float(cosine.mean()))
    return histograms


ENV = "gymnax:Pendulum-v1"
FEW = Layout(4, 256, minibatch=64, epochs=10)
MANY = Layout(16, 64, minibatch=64, epochs=10)
LAYOUTS = (FEW, MANY)
# With a discount of .99 and the default step size PPO hardly learns this task in 120 updates.
# Staggered, because all episodes last 200 steps: envs that start together stay together.
SETTINGS = PPOSettings(network="64x64", gamma=0.9, learning_rate=1e-3, stagger=True)

UPDATES = tuple(range(6, 121, 6))
QUICK_UPDATES = (12, 24, 36, 48)
BATCHES, QUICK_BATCHES = 32, 16
LAMBDAS = (0.0, 0.95, 1.0)
KINDS = ("normalised", "raw")


def run(context: Context) -> Data:
    """Train both layouts, measure both at each checkpoint, and average over checkpoints."""
    updates = context.pick(QUICK_UPDATES, UPDATES)
    trainings = trainings_of(context, ENV, LAYOUTS, updates, SETTINGS)
    checkpoints: dict[str, list[Data]] = {own: [] for own in trainings}
    places = [(own, update) for own in trainings for update in updates]
    for place, (own, update) in enumerate(places):
        context.progress("batches of both layouts", place, len(places))
        checkpoints[own].append(_checkpoint(context, trainings[own], update, place))
    return {
        "env": ENV,
        "layouts": [name(layout) for layout in LAYOUTS],
        "updates": list(updates),
        "batches": context.pick(QUICK_BATCHES, BATCHES),
        "settings": SETTINGS.as_dict(),
        "returns": {own: _returns(one, updates) for own, one in trainings.items()},
        "checkpoints": {own: [_kept(one) for one in some] for own, some in checkpoints.items()},
        "cosines": _over_checkpoints(checkpoints),
        "lags": {own: _lags_over(one) for own, one in checkpoints.items()},
        "histograms": {own: _histograms_over(one) for own, one in checkpoints.items()},
    }


def setting(kind: str, lam: float) -> str:
    """Return how advantages are made, in short: the key of cosines in the data."""
    return f"{kind}, lambda {lam:g}"


SETTINGS_MEASURED = tuple((kind, lam) for kind in KINDS for lam in LAMBDAS)


def _checkpoint(context: Context, training: Training, update: int, round: int) -> Data:
    stage = training.at(update)
    batches = context.pick(QUICK_BATCHES, BATCHES)
    pools = batches_of(context, training.env, stage, LAYOUTS, batches=batches, round=round)
    measured: Data = {"update": update, "cosines": {}}
    for layout, pool in zip(LAYOUTS, pools, strict=True):
        weights = _advantages(pool, layout.envs)
        means = fragment_means(stage, pool, np.stack(list(weights.values())))
        rollouts = dict(zip(weights, means, strict=True))
        measured["cosines"][name(layout)] = {
            key: _agreement(one, layout.envs) for key, one in rollouts.items()
        }
        if layout == training.layout:
            measured |= _steps(stage, pool, weights, rollouts)
    return measured


def _kept(checkpoint: Data) -> Data:
    return {key: value for key, value in checkpoint.items() if key != "histograms"}


def _advantages(pool: Pool, envs: int) -> dict[str, Float[np.ndarray, "T n"]]:
    return {
        setting(kind, lam): batch_advantages(
            pool, gamma=SETTINGS.gamma, lam=lam, envs=envs, normalise=kind == "normalised"
        )
        for kind, lam in SETTINGS_MEASURED
    }


def _agreement(rollouts: Float[np.ndarray, "n P"], envs: int) -> Data:
    """Return what the means of batches have in common, and what noise alone would have.

    noise: differences of batches in place of batches. floor: random directions, as many as the
    batches spread in.
    """
    batches = _gram(rollouts.reshape(-1, envs, rollouts.shape[1]).mean(axis=1))
    directions = dimension(batches[None])
    return {
        "matrix": short(cosine_matrix(batches[:SHOWN, :SHOWN])),
        "cosine": mean_cosine(batches).as_dict(),
        "absolute": mean_cosine(batches, absolute=True).as_dict(),
        "expected": expected_cosine(batches).as_dict(),
        "noise": noise_cosine(batches).as_dict(),
        "directions": short(directions),
        "floor": random_cosine(directions),
    }


def _gram(vectors: Float[np.ndarray, "k P"]) -> Float[np.ndarray, "k k"]:
    return np.asarray(vectors @ vectors.T, float)


def _steps(
    stage: Stage,
    pool: Pool,
    weights: dict[str, Float[np.ndarray, "T n"]],
    rollouts: dict[str, Float[np.ndarray, "n P"]],
) -> Data:
    products = lagged_products(stage, pool, tuple(sorted({*LAGS, *HISTOGRAM_LAGS})))
    keys = {kind: setting(kind, SETTINGS.lam) for kind in KINDS}
    return {
        "lags": {
            kind: lag_correlations(products, weights[key], _gram(rollouts[key]))
            for kind, key in keys.items()
        },
        "histograms": {
            kind: cosine_histograms(products, weights[key]) for kind, key in keys.items()
        },
    }


def _over_checkpoints(checkpoints: dict[str, list[Data]]) -> Data:
    return {
        own: {
            setting(kind, lam): _compared(some, setting(kind, lam))
            for kind, lam in SETTINGS_MEASURED
        }
        | {"0 less 1": {kind: _lambdas_compared(some, kind) for kind in KINDS}}
        for own, some in checkpoints.items()
    }


def _compared(some: list[Data], key: str) -> Data:
    names = [name(layout) for layout in LAYOUTS]
    means: Data = {
        layout: {
            what: _mean(_values(some, layout, key, what))
            for what in ("cosine", "absolute", "expected", "noise", "floor")
        }
        for layout in names
    }
    few, many = (np.array(_values(some, layout, key, "absolute")) for layout in names)
    return {**means, "difference": _mean(many - few)}


def _lambdas_compared(some: list[Data], kind: str) -> Data:
    differences = {}
    for layout in map(name, LAYOUTS):
        first, last = (
            np.array(_values(some, layout, setting(kind, lam), "absolute")) for lam in (0.0, 1.0)
        )
        differences[layout] = _mean(first - last)
    return differences


def _values(some: list[Data], layout: str, key: str, what: str) -> list[float]:
    numbers = [one["cosines"][layout][key][what] for one in some]
    return [one["value"] if isinstance(one, dict) else one for one in numbers]


def _lags_over(some: list[Data]) -> Data:
    return {
        kind: {
            side: [
                _with_band(one["lags"][kind][side][place]["value"] for one in some)
                for place in range(len(LAGS))
            ]
            for side in ("within", "across")
        }
        for kind in KINDS
    }


def _with_band(values: Iterable[float]) -> Data:
    """Return the mean with its interval; `band` is two standard deviations of checkpoints."""
    known = np.array(list(values))
    return {**_mean(known), "band": short(2 * known.std(ddof=1))}


def _histograms_over(some: list[Data]) -> Data:
    histograms = {}
    for kind in KINDS:
        own = [one["histograms"][kind] for one in some]
        heights = np.mean([one["heights"] for one in own], axis=0)
        means = np.array([one["mean"] for one in own])
        histograms[kind] = {
            "heights": short(heights),
            "mean": [_mean(column) for column in means.T],
        }
    return histograms


def _mean(values: Iterable[float]) -> Data:
    return mean(np.asarray(list(values), float)).as_dict()


def _returns(training: Training, updates: tuple[int, ...]) -> list[float | None]:
    return [training.at(update).facts["mean_return"] for update in updates]


EXPERIMENTS = (Experiment("pendulum-grids", "batch against batch on Pendulum", run),)
