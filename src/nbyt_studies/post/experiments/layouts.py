"""Every split of one batch, at several stages of several tasks: what it does to the gradient."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

from nbyt.envs.tabular import TabularEnv
from nbyt.exact import Control, frozenlake, lags, moments, sticky
from nbyt.exact import moments as exact_moments
from nbyt.gradients.spec import AdvantageScale
from nbyt.layout import Layout
from nbyt.measure.frozen_policy import FrozenStage
from nbyt.measure.measurement import Measurement
from nbyt.measure.plane import draw_plane
from nbyt.measure.probe import probe
from nbyt.measure.request import Resources
from nbyt.policy.actor_critic import Stage
from nbyt.results.values import Data
from nbyt.stats.lags import LagProfile
from nbyt.stats.ranking import Candidate, compare
from nbyt.training.plan import PPOSettings
from nbyt_studies.comparisons import (
    covariance_gap,
    covariance_share,
    individual_ratio,
    variance_ratio,
)
from nbyt_studies.experiment import Context, Experiment, env_name
from nbyt_studies.numbers import exact_number

BATCH = 2048
"""Samples of a batch, as in the post's own example."""

TRAINED = Layout(envs=16, steps=128, minibatch=256, epochs=4)
"""A layout between the extremes; what is measured are the stages of its training."""


@dataclass(frozen=True)
class Task:
    """An environment with its settings, and the updates after which its stages are kept.

    The rates are those at which each learns within the updates given; none is tuned further. The
    stages lie where returns rise: a policy that has settled has no gradient to speak of.
    """

    env: str
    settings: PPOSettings
    stages: dict[str, int]

    @property
    def name(self) -> str:
        """The environment without its suite."""
        return env_name(self.env)


FROZENLAKE = Task(
    "tabular:FrozenLake8x8-v1",
    PPOSettings(network="table", learning_rate=0.02),
    {"early": 15, "middle": 40, "late": 100},
)
CARTPOLE = Task("gymnax:CartPole-v1", PPOSettings(), {"early": 4, "middle": 12, "late": 30})
PENDULUM = Task(
    "gymnax:Pendulum-v1",
    PPOSettings(gamma=0.95, learning_rate=1e-3),
    {"early": 5, "middle": 15, "late": 40},
)
BREAKOUT = Task("gymnax:Breakout-MinAtar", PPOSettings(gamma=0.95), {"middle": 20})


def without_limit(env: TabularEnv) -> TabularEnv:
    """Return the same tables with no time limit, for which exact answers are small."""
    return replace(env, id=f"{env.id}-without-limit", time_limit=None)


GRADIENTS = ("actor", "critic")
SHORT, LONG = 2, 1024
_STEPS = tuple(2**power for power in range(1, 11))
# A convolutional network's gradients cost a hundred times those of a small MLP: fewer lengths,
# and the whole study only.
_FEW_STEPS = (2, 16, 128, 1024)
_SUBJECTS = ((FROZENLAKE, _STEPS, 256), (CARTPOLE, _STEPS, 128), (PENDULUM, _STEPS, 128))
_LARGE = (BREAKOUT, _FEW_STEPS, 32)
_NUMBERS = ("variance", "individual", "covariance", "ess_ratio", "bias_sq", "cosine", "alignment")


def measure_layouts(context: Context) -> Data:
    """Measure every layout of 2,048 samples at each stage, with advantages raw and normalised."""
    measured = [
        _at_stage(context, task, name, steps, context.pick(chains // 4, chains))
        for task, steps, chains in context.pick(_SUBJECTS, (*_SUBJECTS, _LARGE))
        for name in context.pick(("middle",), tuple(task.stages))
    ]
    return {"batch": BATCH, "trained": TRAINED.as_dict(), "stages": measured}


def _at_stage(context: Context, task: Task, name: str, steps: Sequence[int], chains: int) -> Data:
    updates = tuple(task.stages.values())
    training = context.trained(task.env, TRAINED, stages=updates, settings=task.settings)
    stage = training.at(task.stages[name])
    what = f"{task.name}, {name} stage"
    as_trained = _probe(context, training.env, stage, steps, chains, f"{what}, normalised", None)
    raw = _probe(context, training.env, stage, steps, chains // 2, f"{what}, raw", "raw")
    return {
        "env": task.name,
        "stage": name,
        "updates": task.stages[name],
        "mean_return": as_trained.mean_return.as_dict(),
        "explained_variance": as_trained.explained_variance.as_dict(),
        "chains": {"normalised": chains, "raw": chains // 2},
        "normalised": as_data(as_trained),
        "raw": as_data(raw),
        "planes": _planes(context, training.env, stage, as_trained, what),
        "exact": _exact(training.env, stage, task),
    }


def _exact(env: Any, stage: Stage, task: Task) -> list[Data]:
    """Return exact cosines, without the time limit; an empty list where the env has no tables."""
    if not isinstance(env, TabularEnv):
        return []
    table = without_limit(env)
    rows = []
    for steps in _FEW_STEPS:
        own = exact_moments(
            table, stage, steps=steps, gamma=task.settings.gamma, lam=task.settings.lam, centre=True
        ).actor
        rows.append({"envs": BATCH // steps, "steps": steps, "cosine": exact_number(own.cosine)})
    return rows


def _probe(
    context: Context,
    env: Any,
    stage: Stage,
    steps: Sequence[int],
    chains: int,
    what: str,
    advantages: str | None,
) -> Measurement:
    return probe(
        env,
        stage,
        batch=BATCH,
        steps=steps,
        chains=chains,
        seed=context.seed,
        advantages=advantages,
        phase=False,
        progress=context.saying(what),
    )


def as_data(measured: Measurement) -> Data:
    """Return each layout's numbers, the two extremes compared, and the lags, as plain data."""
    return {
        "layouts": [
            {
                "envs": one.envs,
                "steps": one.steps,
                **{g: _some(one.gradient(g).as_dict()) for g in GRADIENTS},
            }
            for one in measured.layouts
        ],
        "extremes": {g: _extremes(measured, g) for g in GRADIENTS},
        "lags": {g: _lags(measured.lags[g]) for g in GRADIENTS},
    }


def _some(numbers: Data) -> Data:
    return {name: numbers[name] for name in _NUMBERS}


def _extremes(measured: Measurement, gradient: str) -> Data:
    """Compare 1024x2 (many envs) with 2x1024 (long rollouts) on the same chains."""
    batch, lam = measured.request.batch, measured.request.lambdas[0]
    many, long = (
        Candidate(measured.products[gradient, steps, lam], batch // steps)
        for steps in (measured.request.steps[0], measured.request.steps[-1])
    )
    return {
        "variance": variance_ratio(many, long).as_dict(),
        "individual": individual_ratio(many, long).as_dict(),
        "covariance_gap": covariance_gap(long, many).as_dict(),
        "long_covariance_share": covariance_share(long).as_dict(),
        "along": compare(many, long).ratio.as_dict(),
    }


def _lags(profile: LagProfile) -> Data:
    return {
        "lags": list(profile.lags),
        "within": [one.as_dict() for one in profile.within],
        "across": profile.across.as_dict(),
    }


def _planes(
    context: Context, env: Any, stage: Stage, measured: Measurement, what: str
) -> list[dict[str, Any]]:
    scale = measured.scale
    assert isinstance(scale, AdvantageScale), "a probe keeps its scale"
    steps = (measured.request.steps[0], measured.request.steps[-1])
    return draw_plane(
        FrozenStage(env, stage), measured.request, scale, steps, Resources(), context.saying(what)
    )


# How likely the context is to change at a step: hardly ever, or as by a coin.
_FLIPS = {"hardly changes": 0.02, "changes at random": 0.5}
_CONTROLS_STEPS = (2, 8, 32, 128)
_SUMMED = 32
_CHAINS = 64


def measure_controls(context: Context) -> Data:
    """Measure the sticky context; calculate the two terms of tables' variance in two ways."""
    contexts = []
    for words, flip in _FLIPS.items():
        control = sticky(flip)
        measured = probe(
            control.env,
            control.stage,
            batch=control.batch,
            steps=_CONTROLS_STEPS,
            gamma=control.gamma,
            lam=control.lam,
            advantages="raw",
            chains=_CHAINS,
            seed=context.seed,
            phase=False,
            progress=context.saying(f"context that {words}"),
        )
        contexts.append({"context": words, "flip": flip, "raw": as_data(measured)})
    tables = [("sticky context", sticky())]
    tables += [(f"FrozenLake8x8, {policy}", frozenlake(policy)) for policy in ("uniform", "mid")]
    return {
        "batch": sticky().batch,
        "contexts": contexts,
        "terms": [row for name, one in tables for row in _terms(name, one)],
    }


def _terms(name: str, control: Control) -> list[Data]:
    """Return both terms of one rollout, and the sum over all pairs of its steps."""
    options: dict[str, Any] = {"gamma": control.gamma, "lam": control.lam, "steps": _SUMMED}
    exact = moments(control.env, control.stage, **options)
    paired = lags(control.env, control.stage, count=_SUMMED - 1, **options)
    rows = []
    for gradient in GRADIENTS:
        whole, summed = getattr(exact, gradient), getattr(paired, gradient).variance
        rows.append(
            {
                "table": name,
                "gradient": gradient,
                "individual": whole.individual,
                "covariance": whole.covariance,
                "variance": whole.variance,
                "summed_over_pairs": summed,
            }
        )
    return rows


EXPERIMENTS = (
    Experiment("layouts", "every layout", measure_layouts),
    Experiment("controls", "tables with known answers", measure_controls),
)
