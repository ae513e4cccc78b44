"""A study of every kind of figure and every verdict, made by chance that is fixed."""

import math
import random
from typing import Any

from nbyt.report import figures
from nbyt.results import plain
from nbyt.results.study import AnyFigure, Heatmap, NumberSeries, Row, Table
from nbyt_studies.verdict import RULE, Check, judge

Data = dict[str, Any]
STEPS = (4, 8, 16, 32, 64, 128, 256, 512, 1024, 2048)
STAGES = ("before training", "after 40 updates", "after 160 updates", "at the end")


def number(value: float, half: float = 0.0, **more: Any) -> Data:
    """A value with an interval to both sides."""
    return {"value": value, "low": value - half, "high": value + half, **more}


NOTHING = {"value": None, "low": None, "high": None, "reason": "the pool fell silent"}


def study() -> Data:
    """What `nbyt reproduce` would have written."""
    return {
        "study": "sample",
        "title": "Parallel environments and rollout steps: what holds",
        "lead": (
            "A post on the trade-off between parallel environments N and rollout steps T in PPO "
            "says how a batch's layout, its correlations, its length and its mini-batches act on "
            "the gradient. Each of its statements, in our words, beside a measurement of it."
        ),
        "rule": RULE,
        "effort": "full",
        "seed": 0,
        "claims": [_correlation(), _bias(), _noise(), _phase(), _shuffle()],
        "machine": {"device": "cpu, 2 cores", "platform": "Linux-6.1-x86_64"},
        "versions": {"nbyt": "0.5.0", "jax": "0.10.1", "numpy": "2.4.6", "python": "3.12.3"},
        "reproduce": "nbyt reproduce sample --seed 0",
        "out": "runs/sample-full-0",
        "report": "runs/sample-full-0/report.html",
    }


def _claim(name: str, topic: str, says: str, checks: list[Check], some: list[AnyFigure]) -> Data:
    verdict = judge(checks)
    return {
        "id": name,
        "topic": topic,
        "claim": says,
        "measured": (
            "CartPole-v1, Acrobot-v1 and Pendulum-v1 at four stages each; 64 chains of 4096 "
            "steps at every stage, and the actor's and the critic's gradient of ten layouts."
        ),
        "asks": "That the share is above one half at every stage and for every layout.",
        "verdict": str(verdict),
        "word": verdict.word,
        "when": verdict.when,
        "counts": {"yes": verdict.yes, "no": verdict.no, "open": verdict.open},
        "numbers": {},
        "checks": [check.as_dict() for check in checks],
        "notes": ["The critic's gradient behaves alike.", "With lambda 1 the share is larger."],
        "figures": [plain(figure) for figure in some],
    }


def _checks(values: list[float], half: float, quantity: str = "share of the variance") -> Any:
    envs = ("CartPole-v1", "Acrobot-v1", "Pendulum-v1")
    return [
        Check(
            {"env": envs[k % 3], "gradient": "actor" if k % 2 else "critic", "T": str(STEPS[k])},
            quantity,
            number(value, half),
            low=0.5,
        )
        for k, value in enumerate(values)
    ]


def _correlation() -> Data:
    chance = random.Random(0)
    checks = _checks([0.6 + 0.03 * k for k in range(10)], 0.02)
    matrix = [
        [math.exp(-abs(i - j) / 9) * (1 if (i // 16) == (j // 16) else 0.03) for j in range(64)]
        for i in range(64)
    ]
    clouds = [
        {"name": name, "x": [chance.gauss(m, 1) for _ in range(400)], "y": _normal(chance, 400)}
        for name, m in (("one env", 0.0), ("several envs", 0.8))
    ]
    edges = [-3 + 0.25 * k for k in range(25)]
    bins = [{"name": n, "heights": _bell(edges, m)} for n, m in (("T = 16", 0), ("T = 512", 0.7))]
    return _claim(
        "correlated-steps",
        "Correlation",
        "Steps of one trajectory are alike, so that a longer one tells less than its length says",
        checks,
        [
            figures.lines(
                "Correlation of contributions, CartPole-v1, 64x32, after 160 updates",
                "steps between two contributions",
                "correlation",
                [_series(n, 0.9 / (1 + k), 0.06) for k, n in enumerate(("actor", "critic"))],
                log_x=True,
                ticks=[(t, f"{t}") for t in STEPS],
                marks=[(0.0, "independent steps"), (0.5, "half")],
                spans=[(STEPS[1], STEPS[3], "usual")],
            ),
            figures.row(
                figures.heatmap(
                    "A batch of 4x16 by steps",
                    matrix,
                    "correlation",
                    low=-1.0,
                    high=1.0,
                    x_title="step of the batch",
                    y_title="step of the batch",
                ),
                figures.points("Batch gradients", "first direction", "second direction", clouds),
            ),
            figures.histogram(
                "Cosine to the true gradient", "cosine", edges, bins, y_title="batches"
            ),
        ],
    )


def _bias() -> Data:
    checks = [*_checks([0.2, 0.8, 0.2, 0.8, 0.25, 0.7], 0.05), *_checks([0.3], 0.4)]
    frames = [[_two(stage, k), _heat(stage, k), _numbers(stage)] for k, stage in enumerate(STAGES)]
    return _claim(
        "short-bias",
        "Bias and noise",
        "Short rollouts pull the gradient away from the true one",
        checks,
        [figures.slides("stages", "Stage of training", STAGES, frames)],
    )


def _two(stage: str, k: int) -> Row:
    return figures.row(
        figures.lines(
            f"Variance, Acrobot-v1, {stage}",
            "T steps",
            "variance (gradient units²)",
            [_falling(f"N = {4 * 2**j}", 10.0 ** (k - j), j) for j in range(6)],
            log_x=True,
            log_y=True,
        ),
        figures.plane(
            f"Gradients of 16x8, {stage}",
            _cloud(k),
            goal="the true gradient",
            points="gradients of single batches",
        ),
    )


def _heat(stage: str, k: int) -> Heatmap:
    values = [[0.1 * k + 0.08 * r + 0.05 * c for c in range(6)] for r in range(5)]
    blanks: list[list[float | None]] = [list(row) for row in values]
    blanks[1][2] = None
    return figures.heatmap(
        f"Alignment, {stage}",
        blanks,
        "alignment",
        rows=["lambda 0", "lambda 0.5", "lambda 0.9", "lambda 0.95", "lambda 1"],
        columns=[f"T = {t}" for t in STEPS[:6]],
        low=0.0,
        high=1.0,
        written=True,
    )


def _numbers(stage: str) -> Table:
    rows = [["actor", number(0.31, 0.04), stage], ["critic", NOTHING, "left out"]]
    return figures.table(f"Numbers, {stage}", ["gradient", "share", "remark"], rows)


def _noise() -> Data:
    checks = _checks([0.2, 0.25, 0.3, 0.22], 0.05, "ratio of variances")
    names = ["CartPole-v1", "Acrobot-v1", "Pendulum-v1", "MountainCar-v0", "FourRooms-misc"]
    some = [
        figures.series(name, range(5), [_share(k, j) for k in range(5)])
        for j, name in enumerate(("individual", "covariance", "their sum"))
    ]
    return _claim(
        "more-envs",
        "Bias and noise",
        "More envs leave the variance as it is",
        checks,
        [
            figures.bars("Shares of the variance, 64x32", names, "share", some),
            figures.lines(
                "Eight series, one of them apart",
                "updates that were made, each from a batch of 2048 samples and with four epochs",
                "mean return of the last hundred episodes that ended in one of the envs",
                [_many(f"seed {k}", k) for k in range(8)],
            ),
        ],
    )


def _share(k: int, j: int) -> Data:
    return NOTHING if (k, j) == (2, 1) else number(0.2 + 0.1 * k + 0.2 * j, 0.08)


def _phase() -> Data:
    checks = [*_checks([0.5, 0.52, 0.49], 0.1), Check({"env": "x"}, "other", NOTHING, high=1.0)]
    spots = figures.series(
        "measured", [1, 2, 3, 4], [number(x, 0.4 * x) for x in (1, 2, 3)] + [NOTHING], line=False
    )
    exact = figures.series("exact", [1, 2, 3, 4], [number(1.0 + 0.5 * k) for k in range(4)])
    wild = figures.series("wild", [1, 2, 3], [number(1, 500), number(2, 0.3), number(3, 0.2)])
    return _claim(
        "same-phase",
        "Phase",
        "Envs that start together stay together",
        checks,
        [
            figures.row(
                figures.lines("Points", "lag", "value", [spots, exact]),
                figures.lines("A wild interval", "lag", "value", [wild], marks=[(3.2, "here")]),
            ),
            figures.heatmap("Signs", [[-2.0, 1.0], [0.5, 2.0]], "difference", written=True),
        ],
    )


def _shuffle() -> Data:
    return _claim("no-checks", "Phase", "A claim with nothing to check it by", [], [])


def _series(name: str, height: float, half: float) -> NumberSeries:
    values = [height * math.exp(-t / 60) for t in STEPS]
    numbers = [number(x, half * (0.4 + k / 9)) for k, x in enumerate(values)]
    numbers[6] = NOTHING
    return figures.series(name, STEPS, numbers)


def _falling(name: str, start: float, turn: int) -> NumberSeries:
    values = [start / t ** (0.5 + 0.05 * turn) for t in STEPS]
    numbers = [number(x, 1.2 * x if k == 9 else 0.3 * x) for k, x in enumerate(values)]
    return figures.series(name, STEPS, numbers)


def _many(name: str, turn: int) -> NumberSeries:
    numbers = [number(20 * turn + 30 * math.log1p(x) + 5 * math.sin(x + turn)) for x in range(40)]
    return figures.series(name, range(40), numbers)


def _cloud(k: int) -> Data:
    chance = random.Random(k)
    mean = [0.5 + 0.1 * k, 0.1 * k]
    spots = [[mean[0] + chance.gauss(0, 0.3), mean[1] + chance.gauss(0, 0.2)] for _ in range(150)]
    return {"mean": mean, "covariance": [[0.09, 0.01], [0.01, 0.04]], "points": spots}


def _normal(chance: random.Random, count: int) -> list[float]:
    return [chance.gauss(0, 1) for _ in range(count)]


def _bell(edges: list[float], middle: float) -> list[float]:
    return [100 * math.exp(-((x + 0.125 - middle) ** 2)) for x in edges[:-1]]
