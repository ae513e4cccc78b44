"""Planted worlds: for every claim, data of a world in which it is true and of one where it is not.

Where a law of mathematics ties numbers together, the worlds obey it: contributions with a given
correlation make the two terms, a critic's error makes the bias, also where T or lambda leave it no
choice. So a check that cannot come out otherwise says the same in both worlds, and is found.
"""

from itertools import product
from typing import Any

import numpy as np

from nbyt_studies.post.experiments import critics
from nbyt_studies.post.experiments.layouts import BATCH, STEPS

Data = dict[str, Any]
SEEDS = range(5)
ENVS = ("FrozenLake8x8-v1", "CartPole-v1", "Pendulum-v1")


def number(value: float, half: float = 0.0) -> Data:
    """A number with its interval."""
    return {"value": value, "low": value - half, "high": value + half}


def jitter(seed: int) -> float:
    """What trainings differ by."""
    return 1 + 0.02 * (seed - 2)


def layouts(
    rho: float, *, growth: float = 0.0, noise: float = 1.0, turn: float = 0.8, shrink: float = 0.0
) -> Data:
    """Stages whose contributions correlate by rho^lag, with a step variance of T^growth.

    turn: by how much the mean of the shortest rollouts is off in cosine. shrink: squared progress
    is T^shrink.
    """

    def rows(seed: int) -> list[Data]:
        made = []
        for steps in STEPS:
            lags = np.arange(1, steps)
            pairs = 2 * np.sum((1 - lags / steps) * float(rho) ** lags)
            step = noise * jitter(seed) * float(steps) ** growth
            envs, individual = BATCH // steps, step / BATCH
            variance = individual * (1 + pairs)
            progress = float(steps) ** shrink
            made.append(
                {
                    "envs": envs,
                    "steps": steps,
                    "variance": variance,
                    "individual": individual,
                    "covariance_share": pairs / (1 + pairs),
                    "progress": progress,
                    "signal": progress / variance,
                    "relative_bias": turn * STEPS[0] / steps * jitter(seed),
                    "cosine": 1 - turn * STEPS[0] / steps * jitter(seed),
                    "noise_factor": progress / (progress + variance),
                }
            )
        return made

    def training(seed: int) -> Data:
        own = {g: {"layouts": rows(seed), "neighbours": rho * jitter(seed)} for g in _PARTS}
        return {"seed": seed, "mean_return": 100.0 + seed, "raw": own, "normalised": own}

    stages = [
        {"env": env, "stage": stage, "updates": 1, "trainings": [training(s) for s in SEEDS]}
        for env, stage in product(ENVS, ("early", "middle"))
    ]
    return {"layouts": {"stages": stages}}


_PARTS = ("actor", "critic")


def biases(error: dict[str, float]) -> Data:
    """Critics that are off by so much: with lambda 0 a rollout's length makes no difference."""

    def layout(off: float, steps: int, lam: float) -> Data:
        left = sum((0.99 * lam) ** (steps - t) for t in range(steps)) / steps if lam else 1.0
        bias = off * left
        return {"steps": steps, "lambda": lam, "relative_bias": bias, "cosine": 1 - bias / 2}

    def training(seed: int) -> Data:
        made = [
            {
                "critic": name,
                "layouts": [
                    layout(off * jitter(seed), steps, lam)
                    for steps, lam in product(critics._STEPS, critics.LAMBDAS)
                ],
            }
            for name, off in error.items()
        ]
        return {"seed": seed, "mean_return": 100.0, "critics": made}

    envs = [
        {"env": env, "method": "exact", "trainings": [training(seed) for seed in SEEDS]}
        for env in ENVS
    ]
    return {"critics": {"envs": envs}}


def credit(*, luck: float, helps: bool) -> Data:
    """Luck grows as T^luck; estimates become better with T and with lambda .95, or do not."""

    def layout(seed: int, steps: int) -> Data:
        names = ("sampling", "own_step", "credit", "environment", "policy", "variance")
        noise = float(steps) ** luck * jitter(seed)
        own = dict.fromkeys(names, noise)
        progress = float(steps) ** (luck + (0.5 if helps else -0.5))
        return {"steps": steps, "envs": BATCH // steps, "progress": progress, **_both(own)}

    def quality(seed: int, steps: int, lam: float) -> Data:
        better = steps**0.3 * (1.0 if lam == 1 else 1.5) * jitter(seed)
        signal = 0.01 * (better if helps else 1 / better)
        return {
            "steps": steps,
            "lambda": lam,
            "covariance": signal**0.5,
            "variance": 1.0,
            "truth": 1.0,
        }

    sources = [
        {
            "env": env,
            "trainings": [
                {"seed": seed, "mean_return": 1.0, "layouts": [layout(seed, t) for t in (4, 64)]}
                for seed in SEEDS
            ],
        }
        for env in ENVS
    ]
    lambdas = critics._QUALITY_LAMBDAS
    places = list(product(critics._QUALITY_STEPS, lambdas))
    rows = [
        {"env": env, "stage": stage, "seed": s, "rows": [quality(s, *place) for place in places]}
        for env, stage, s in product(ENVS, ("early", "middle"), SEEDS)
    ]
    return {"sources": {"envs": sources}, "advantages": {"rows": rows}}


def _both(own: Data) -> Data:
    return dict.fromkeys(_PARTS, own)


def delay(sparse: float, slippery: float) -> Data:
    """Numbers are multiplied where rewards are sparse and where the ground is slippery.

    A uniform policy goes the same ways on both grounds, whatever the world.
    """
    rows = []
    for ground, rewards, policy, batch, steps in product(
        ("slippery", "firm"), ("sparse", "shaped"), ("uniform", "softmax"), range(5), (4, 64)
    ):
        factor = sparse if rewards == "sparse" else 1.0
        if ground == "slippery" and policy != "uniform":
            factor *= slippery
        own = dict.fromkeys(("bias", "credit", "credit_share"), factor * jitter(batch))
        case = {"ground": ground, "rewards": rewards, "policy": policy}
        rows.append({**case, "batch": batch, "steps": steps, **own})
    return {"delay": {"rows": rows}}


def visits(late: float, distance: float = 0.5) -> Data:
    """Runs whose numbers are so large late, and 1 early; distances as given."""
    results = {}
    names = ("visits-lake", "visits-cartpole", "visits-pendulum")
    ids = ("tabular:FrozenLake8x8-v1", "gymnax:CartPole-v1", "gymnax:Pendulum-v1")
    for name, env in zip(names, ids, strict=True):
        seeds = []
        for seed in SEEDS:
            first, last = jitter(seed), late * jitter(4 - seed)
            own = {key: [number(first), number(last)] for key in ("divergence", "step")}
            distances = [number(distance * first), number(distance * last)]
            floors = [number(0.0)] * 2
            seeds.append({"at": [1, 9], "floor": floors, "distance": distances, **own})
        seeds[0]["maps"] = [[1 / 64] * 64] * 2
        about = {"early": [1], "late": [9], "updates": 10, "layout": "16 x 128"}
        returns = {"update": [1, 2], "value": [0.0, 1.0]}
        results[name] = {"env": env, **about, "seeds": seeds, "returns": returns}
    return results


def minibatches(
    *, added: float = 1.0, apart: float = 0.0, cosine: float = 1.0, in_order: float = 1.5
) -> Data:
    """Batches of variance 1 that are cut; added: the variance of a cut, over the formula's.

    The whole batch adds nothing and every scheme has the formula's size, whatever the world.
    """

    def shuffled(size: int) -> Data:
        expected = (1 - size / BATCH) * 64 / size
        row = {"minibatch": size, "total": number(1 + added * expected), "apart": number(apart)}
        if expected > 0:
            return {**row, "against_formula": number(added)}
        return {**row, "added": number(0.0 if added == 1 else 0.1)}

    cases = [
        {
            "env": env,
            "stage": "late",
            "gradient": part,
            "updates": 40,
            "shuffled": [shuffled(size) for size in (64, 2048)],
            "in_order": [
                {"scheme": scheme, "minibatch": 64, "ratio": number(in_order, 0.01)}
                for scheme in ("consecutive", "time_slabs", "whole_envs")
            ],
            **({"normalised": {"cosine": number(cosine, 0.01)}} if part == "actor" else {}),
        }
        for env, part in product(ENVS, _PARTS)
    ]
    return {"minibatches": {"cases": cases}}


def learning(lead: float) -> Data:
    """Mini-batches are ahead by so much of the whole batch, at any learning rate."""
    ways = ("whole batch", "whole batch, 5 times the learning rate")
    curves = {way: [number(1.0)] for way in ("mini-batches", *ways)}
    cases = [
        {"env": env, "seeds": 6, "curves": curves, "leads": dict.fromkeys(ways, number(lead, 1.0))}
        for env in ENVS[1:]
    ]
    steps = {"mini-batches": 320, "whole batch": 10}
    about = {"minibatch": 64, "gradient_steps": steps, "epochs": 10, "batch": BATCH}
    return {"minibatch-learning": {**about, "cases": cases}}


def coverage(unused: float) -> Data:
    """So many samples are never fetched."""
    schemes = {"fetched one by one": [number(unused)], "shuffle and chop": [number(0.0)]}
    formula = {"fetched one by one": [0.37]}
    about = {"layout": {"batch": BATCH}, "epochs": [1], "formula": formula}
    return {"minibatch-coverage": {**about, "schemes": schemes}}


def surrogate(gap: float, ratio: float) -> Data:
    """The loss's gradient is off by the gap, and the first ratio from 1."""
    long = [number(ratio), number(0.1)]
    case = {
        "stage": "late",
        "updates": 40,
        "gap": {"normalised": number(gap), "raw": number(gap)},
        **dict.fromkeys(("ratio", "cosine", "length", "clip_fraction"), long),
        **dict.fromkeys(("minibatch_cosine",), long[:1]),
    }
    return {"surrogate": {"looks": [0, 8], "cases": [{"env": env, **case} for env in ENVS]}}


def stability(*, steadier: bool) -> Data:
    """The less noisy of two layouts takes steadier steps and ends alike, or the other way round."""

    def row(envs: int, steps: int, noise: float, place: int) -> Data:
        place = place if steadier else 1 - place
        seeds = [
            {
                "cosine": 0.9 - 0.5 * place + 0.001 * seed,
                "cosines": [0.1, 0.2],
                "final_return": 100 + seed * 1000.0**place,
            }
            for seed in range(8)
        ]
        return {"envs": envs, "steps": steps, "noise_factors": [number(1 - noise)], "seeds": seeds}

    rows = [row(16, 128, 0.1, 0), row(2, 1024, 0.9, 1)]
    return {"stability": {"stages": [1], "rows": rows, "crowds": rows}}


def clipping(factor: float) -> Data:
    """Without clipping the policy moves so many times as far."""
    seeds = [
        {"with": {"divergence": [jitter(s)]}, "without": {"divergence": [factor * jitter(4 - s)]}}
        for s in SEEDS
    ]
    envs = [{"env": f"gymnax:{env}", "at": [1], "clip": 0.2, "seeds": seeds} for env in ENVS[1:]]
    return {"clipping": {"envs": envs}}


def dynamics(growth: float) -> Data:
    """Nearby starts part so many times."""
    rows = [
        {"env": f"gymnax:{env}", "stage": stage, "steps": [1, 64], "growth": [1.0, growth]}
        for env, stage, _ in product(ENVS[1:], ("early", "late"), SEEDS)
    ]
    return {"dynamics": {"separation": rows}}


def costs(size: float, ratio: float) -> Data:
    """A gradient step on the whole batch needs so many bytes, and an epoch so much more time."""
    kinds = {"full batch": 2048, "mini-batch": 64}
    row = {
        "env": "gymnax:CartPole-v1",
        "network": "64x64",
        "bytes": {"full batch": size, "mini-batch": size / 8},
        "seconds": dict.fromkeys(kinds, number(1.0)),
        "update_ratio": number(ratio, 0.01),
    }
    return {"costs": {"minibatches": kinds, "rows": [row]}}


def controls(off: float) -> Data:
    """The two terms miss the sum over all pairs by so much."""
    row = {"table": "a table", "gradient": "actor", "individual": 1.0, "covariance": 0.5}
    return {"controls": {"terms": [{**row, "variance": 1.5, "summed_over_pairs": 1.5 * (1 + off)}]}}


def probability(total: float) -> Data:
    """All trajectories add up to this."""
    sums = [{"env": "sticky", "steps": 2, "count": 9, "sum": total}]
    return {"probability": {"sums": sums, "log10": [-1.0, -2.0], "steps": 64}}


def grids(*, gain: float, own: float, rest: float, along: float) -> Data:
    """Batches of more envs agree better by the gain; samples lean towards their own batch."""
    leanings = {
        "own_less_other": number(own, 0.001),
        "without_step_less_other": number(rest, 0.001),
    }
    episode = {"mean_without": number(along, 0.001), "left_out": 0, "steps": 9}
    stages = [{"update": 500, "leanings": leanings, "episode": episode, "grid": {"left_out": 0}}]
    exact = [
        {
            "trained": "4x32",
            "update": 500,
            "layout": layout,
            "expected": 0.1 + extra,
            "mean_square": 1.0,
            "variance": 2.0,
            "covariance_share": 0.1,
        }
        for layout, extra in (("4x32", 0.0), ("32x4", gain))
    ]
    trainings = {"4x32": {"gain": number(gain, 0.001), "stages": stages}}
    return {"grids": {"layouts": ["4x32", "32x4"], "trainings": trainings, "exact": exact}}


def pendulum(*, lag: float, layouts: float, lam: float) -> Data:
    """Steps correlate by this, layouts differ by this, and lambdas by this."""
    kinds = ("normalised", "raw")
    lags = {side: [number(lag, 0.001)] * 4 for side in ("within", "across")}
    by_layout = {"4x256": number(lam, 0.001), "16x64": number(lam, 0.001)}
    cosines = {
        own: {
            **{f"{kind}, lambda 0.95": {"difference": number(layouts, 0.001)} for kind in kinds},
            "0 less 1": dict.fromkeys(kinds, by_layout),
        }
        for own in ("4x256", "16x64")
    }
    by_kind = {own: dict.fromkeys(kinds, lags) for own in cosines}
    return {"pendulum-grids": {"lags": by_kind, "cosines": cosines}}


STEADY = {"gain": 0.1, "own": 0.1, "rest": 0.0, "along": 0.3}
PLAIN = {"lag": 0.0, "layouts": 0.0, "lam": 0.3}
HALF = {"untrained": 1.0, "middle": 0.5, "right": 0.0}

# A world in which each claim of the post is true, and one in which it is false.
POST: dict[str, tuple[Data, Data]] = {
    "layout-matters": (layouts(0.9), layouts(0.0, turn=0.0)),
    "whole-batch-always": (learning(50.0), learning(-50.0)),
    "random-fetching-unused": (coverage(0.37), coverage(0.0)),
    "minibatch-shuffling": (minibatches(), minibatches(in_order=0.8)),
    "trajectory-probability": (probability(1.0), probability(1.1)),
    "visits-shift": (visits(1.0), visits(1.0, distance=-0.001)),
    "visits-settle": (visits(0.1), visits(2.0)),
    "convergence-policy": (visits(0.1), visits(2.0)),
    "convergence-step": (visits(0.1), visits(2.0)),
    "scatter-around-truth": (layouts(0.5, noise=1e4), layouts(0.0, noise=1e-2)),
    "better-critic-less-bias": (biases(HALF), biases({"untrained": 0.5, "middle": 1.0})),
    "bias-is-the-critics": (biases(HALF), biases({**HALF, "right": 0.5})),
    "delay-bias": (delay(3.0, 1.0), delay(0.3, 1.0)),
    "slip-bias": (delay(1.0, 3.0), delay(1.0, 0.3)),
    "noise-directions": (stability(steadier=True), stability(steadier=False)),
    "noise-instability": (stability(steadier=True), stability(steadier=False)),
    "envs-reduce-trajectory-noise": (
        credit(luck=1.0, helps=False),
        credit(luck=-1.0, helps=True),
    ),
    "sensitive-dynamics": (dynamics(50.0), dynamics(2.0)),
    "long-rollouts-credit": (credit(luck=1.0, helps=True), credit(luck=1.0, helps=False)),
    "lambda-cuts-credit": (credit(luck=1.0, helps=True), credit(luck=1.0, helps=False)),
    "delay-credit": (delay(3.0, 1.0), delay(0.3, 1.0)),
    "costs": (costs(4e9, 2.0), costs(4e7, 0.5)),
    "minibatch-mean": (minibatches(), minibatches(apart=0.3)),
    "minibatch-normalised": (minibatches(), minibatches(cosine=0.5)),
    "minibatch-variance": (minibatches(), minibatches(added=0.0)),
    "minibatch-formula": (minibatches(), minibatches(added=1.5)),
    "ratio-near-one": (surrogate(0.0, 0.0), surrogate(0.0, 0.2)),
    "clipping-near": (clipping(10.0), clipping(0.1)),
    "mean-of-contributions": (surrogate(0.0, 0.0), surrogate(0.1, 0.0)),
    "short-rollouts-bias": (biases(HALF), biases({"untrained": 0.0, "middle": 0.0})),
    "two-terms": (controls(0.0), controls(0.1)),
    "individual-by-size": (layouts(0.0), layouts(0.0, growth=1.0)),
    "neighbours-correlate": (layouts(0.9), layouts(0.0)),
    "covariance-grows": (layouts(0.5), layouts(-0.5)),
    "covariance-dominates": (layouts(0.98), layouts(0.0)),
    "envs-lower-variance": (layouts(0.9), layouts(-0.9)),
    "grids-more-envs-agree": (grids(**STEADY), grids(**{**STEADY, "gain": -0.1})),
    "grids-own-batch": (grids(**STEADY), grids(**{**STEADY, "own": -0.1})),
    "grids-own-share": (grids(**STEADY), grids(**{**STEADY, "rest": 0.1})),
    "grids-along-an-episode": (grids(**STEADY), grids(**{**STEADY, "along": 0.0})),
    "pendulum-lags-within": (pendulum(**PLAIN), pendulum(**{**PLAIN, "lag": 0.3})),
    "pendulum-lags-across": (pendulum(**PLAIN), pendulum(**{**PLAIN, "lag": 0.3})),
    "pendulum-layouts-agree-alike": (pendulum(**PLAIN), pendulum(**{**PLAIN, "layouts": 0.3})),
    "pendulum-lambda": (pendulum(**PLAIN), pendulum(**{**PLAIN, "lam": -0.3})),
}


def buffers(
    *,
    lag: float = 0.5,
    windows: float = 3.0,
    drawn: float = 1.0,
    variety: float = 2.0,
    scale: float = 100.0,
    cost: float = 1.0,
) -> Data:
    """Buffers of 4,096 transitions whose |G|² is 1 and whose noise scale is given.

    windows: variance of neighbours over that of random draws, at any size above 1. drawn: that of
    drawn mini-batches over the formula's. cost: seconds of a step grow with size^cost.
    """
    sizes, rows = [1, 32, 256], 4096

    def seed(at: int) -> Data:
        single = scale * jitter(at)
        uniform = [single / size for size in sizes]
        near = [single, *(windows * x for x in uniform[1:])]
        exact = {"uniform": uniform, "sequential": near}
        of_size = {str(size): place for place, size in enumerate(sizes)}
        found = {
            way: {
                size: {
                    "square": own[place] * (drawn if size != "1" else 1.0),
                    "cosine": (1 + own[place] * (drawn if size != "1" else 1.0)) ** -0.5,
                }
                for size, place in of_size.items()
            }
            for way, own in exact.items()
        }
        counts = {"uniform": 10 * variety * jitter(at), "sequential": 10.0}
        some = [{"minibatch": size, "drawn": counts} for size in (32, 256)]
        return {
            "rows": rows,
            "square": 1.0,
            "correlation": {"observation": [lag * jitter(at)], "gradient": [lag * jitter(at)]},
            "exact": exact,
            "drawn": found,
            "variety": {"states": some, "episodes": some},
        }

    cases = [
        {"env": env, "moment": moment, "steps": 1, "seeds": [seed(at) for at in SEEDS]}
        for env, moment in product(ENVS, ("early", "late"))
    ]
    all_sizes = [*sizes, rows]
    ratios = [number((size / 32) ** cost) for size in all_sizes]
    timed = [{"env": env, "sizes": all_sizes, "ratios": ratios} for env in ENVS]
    return {
        "gradients": {"sizes": sizes, "lags": [1], "cases": cases},
        "step-seconds": {"cases": timed},
    }


def trainings(usual: float, unusual: float) -> Data:
    """Returns with mini-batches of 32 to 256, and with others or the whole buffer."""

    def runs(level: float) -> list[Data]:
        return [{"final_return": level + at, "on_the_way": level + at} for at in SEEDS]

    rows = [
        {"equal": budget, "minibatch": size, "seeds": runs(usual if 32 <= size < 512 else unusual)}
        for budget, size in product(("gradient steps", "compute"), (8, 32, 256, 1024))
    ]
    whole = [{"learning_rate": 0.002, "target_every": 400, "seeds": runs(unusual)}]
    optimiser = {"rates": [1, 2, 3], "learning_rate": 2, "seeds": runs(usual)}
    optimisers = [{"optimiser": name, **optimiser} for name in ("sgd", "rmsprop", "adam")]
    chance = {"random_returns": [20.0 + at for at in SEEDS]}
    return {
        "training-sizes": {**chance, "rows": rows, "whole": whole, "part": runs(usual)},
        "optimisers": {**chance, "rows": optimisers},
    }


def draws(*, better: bool) -> Data:
    """Random draws are better than others in every way, or worse."""

    def seed(place: int, at: int) -> Data:
        return {
            "final_return": 200 - 80 * place + at * 10.0**place,
            "curve": [20.0 + at, 100.0, 100.0 - 20 * place, 150.0],
            "oscillation": 0.1 * (1 + place) + 0.001 * at,
            "highest": 50.0 if place == 0 else 200.0,
            "errors": [1.0, 0.1 * (1 + place) + 0.001 * at],
        }

    def runs(place: int) -> list[Data]:
        return [seed(place, at) for at in range(8)]

    samplings = {"uniform": runs(not better), "sequential": runs(better), "newest": runs(better)}
    return {
        "stability": {
            "envs": [{"env": "e", "usual": True, "possible": 1e2, "samplings": samplings}]
        }
    }


def unseen(beyond: float) -> Data:
    """Uniform sampling is alike at home, and better by so much where nothing was met."""
    chance = np.random.default_rng(0)
    results = {}
    for name in ("unseen-carts", "unseen-few-lakes", "unseen-many-lakes"):
        rows = []
        for sampling in ("uniform", "sequential", "newest"):
            homes = 100 + chance.normal(0, 5, (6, 6))
            abroad = 20 + 0.5 * homes + beyond * (sampling == "uniform")
            pairs = zip(homes.tolist(), abroad.tolist(), strict=True)
            seeds = [{"home": home, "abroad": {"elsewhere": far}} for home, far in pairs]
            rows.append({"sampling": sampling, "seeds": seeds})
        about = {"env": name, "home": "as trained", "conditions": ["elsewhere"]}
        results[name] = {**about, "steps": [1, 2, 3, 4, 5, 6], "rows": rows}
    return results


def schemes(ratio: float, formula: float, off: float) -> Data:
    """Noise over a shuffle's, over the formula's, and how far off another scheme's end is."""
    names = ("shuffle_and_chop", "time_slabs", "whole_envs")
    numbers = {"ratio": number(ratio, 0.01), "against_formula": number(formula, 0.01)}
    rows = [{"scheme": name, "minibatch": 256, **numbers} for name in names]
    cases = [
        {"env": env, "stage": "late", "gradient": g, "rows": rows} for env in ENVS for g in _PARTS
    ]
    end = {"ratio": number(1 + off), "clip_fraction": number(off), "cosine": number(-off)}
    ends = [{"env": env, "stage": "late", "ends": dict.fromkeys(names, end)} for env in ENVS]
    layout = {"steps": 128}
    return {"schemes": {"layout": layout, "cases": cases}, "scheme-ends": {"cases": ends}}


REPLAY: dict[str, tuple[Data, Data]] = {
    "replay-neighbours": (buffers(), buffers(lag=-0.2)),
    "replay-decorrelates": (buffers(), buffers(windows=0.5)),
    "replay-formulas": (buffers(), buffers(drawn=1.5)),
    "replay-variety": (buffers(), buffers(variety=0.5)),
    "replay-less-variance": (buffers(), buffers(windows=300.0, drawn=300.0)),
    "replay-sizes": (buffers(cost=0.5), buffers(scale=4.0, cost=3.0)),
    "replay-whole-buffer": (buffers(), buffers(scale=1e7, cost=0.0)),
    "size-balance": (trainings(200.0, 100.0), trainings(100.0, 200.0)),
    "whole-buffer-slower": (trainings(200.0, 100.0), trainings(100.0, 200.0)),
    "optimisers": (trainings(200.0, 100.0), trainings(30.0, 100.0)),
    "training-oscillation": (draws(better=True), draws(better=False)),
    "training-divergence": (draws(better=True), draws(better=False)),
    "training-policy": (draws(better=True), draws(better=False)),
    "training-consistency": (draws(better=True), draws(better=False)),
    "unseen-level": (unseen(30.0), unseen(-30.0)),
    "unseen-drop": (unseen(30.0), unseen(-30.0)),
    "scheme-noise": (schemes(1.5, 1.0, 0.0), schemes(0.8, 1.0, 0.0)),
    "scheme-formula": (schemes(1.5, 1.0, 0.0), schemes(1.5, 1.4, 0.0)),
    "scheme-ends": (schemes(1.5, 1.0, 0.0), schemes(1.5, 1.0, 0.3)),
}
