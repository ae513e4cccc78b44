"""Every split of one batch, at several stages of several tasks: what it does to the gradient."""

from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Any

from nbyt.envs.tabular import TabularEnv
from nbyt.exact import Control, frozenlake, lags, moments, sticky
from nbyt.gradients.spec import AdvantageScale
from nbyt.layout import Layout
from nbyt.measure.frozen_policy import FrozenStage
from nbyt.measure.measurement import Measurement
from nbyt.measure.plane import draw_plane
from nbyt.measure.probe import probe
from nbyt.measure.request import Resources
from nbyt.policy.actor_critic import Stage
from nbyt.results.values import Data
from nbyt.stats.ranking import Candidate
from nbyt.training.plan import PPOSettings
from nbyt_studies.comparisons import training_numbers
from nbyt_studies.experiment import Context, Experiment, Training, env_name

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


def without_limit(env: TabularEnv) -> TabularEnv:
    """Return the same tables with no time limit, for which exact answers are small."""
    return replace(env, id=f"{env.id}-without-limit", time_limit=None)


GRADIENTS = ("actor", "critic")
STEPS = (2, 16, 128, 1024)
_TASKS = (FROZENLAKE, CARTPOLE, PENDULUM)
_TRAININGS = (3, 5)
_CHAINS = (24, 64)


def trainings(context: Context, task: Task) -> Iterator[tuple[int, Training]]:
    """Yield the task's run of every seed: what is measured of its stages varies between them."""
    updates = tuple(task.stages.values())
    for seed in range(context.pick(*_TRAININGS)):
        yield (
            seed,
            context.trained(task.env, TRAINED, stages=updates, settings=task.settings, seed=seed),
        )


def measure_layouts(context: Context) -> Data:
    """Measure layouts of 2,048 samples at the stages of every training, raw and normalised."""
    measured = []
    for task in _TASKS:
        runs = list(trainings(context, task))
        for name in context.pick(("middle",), tuple(task.stages)):
            rows = [_at_stage(context, task, name, seed, run) for seed, run in runs]
            case = {"env": task.name, "stage": name, "updates": task.stages[name]}
            measured.append({**case, "trainings": rows})
    return {"batch": BATCH, "trained": TRAINED.as_dict(), "stages": measured}


def _at_stage(context: Context, task: Task, name: str, seed: int, training: Training) -> Data:
    stage = training.at(task.stages[name])
    what = f"{task.name}, {name} stage, training {seed}"
    as_trained = _probe(context, training.env, stage, f"{what}, normalised", None)
    raw = _probe(context, training.env, stage, f"{what}, raw", "raw")
    row: Data = {
        "seed": seed,
        "mean_return": as_trained.mean_return.value,
        "explained_variance": as_trained.explained_variance.value,
        "normalised": as_data(as_trained),
        "raw": as_data(raw),
    }
    if seed == 0 and name == "middle":
        row["planes"] = _planes(context, training.env, stage, as_trained, what)
    return row


def _probe(
    context: Context, env: Any, stage: Stage, what: str, advantages: str | None
) -> Measurement:
    return probe(
        env,
        stage,
        batch=BATCH,
        steps=STEPS,
        chains=context.pick(*_CHAINS),
        seed=context.seed,
        advantages=advantages,
        phase=False,
        progress=context.saying(what),
    )


def as_data(measured: Measurement) -> Data:
    """Return each gradient's numbers by layout, and the correlation of neighbours, as plain data.

    neighbours: of contributions one step apart.
    """
    batch, lam = measured.request.batch, measured.request.lambdas[0]
    data: Data = {}
    for g in GRADIENTS:
        rows = []
        for one in measured.layouts:
            candidate = Candidate(measured.products[g, one.steps, lam], batch // one.steps)
            own = one.gradient(g)
            rows.append(
                {
                    "envs": one.envs,
                    "steps": one.steps,
                    **training_numbers(candidate),
                    "cosine": own.cosine.value,
                    "noise_factor": own.noise_factor.value,
                }
            )
        data[g] = {"layouts": rows, "neighbours": measured.lags[g].within[0].value}
    return data


def _planes(
    context: Context, env: Any, stage: Stage, measured: Measurement, what: str
) -> list[dict[str, Any]]:
    scale = measured.scale
    assert isinstance(scale, AdvantageScale), "a probe keeps its scale"
    return draw_plane(
        FrozenStage(env, stage),
        measured.request,
        scale,
        (STEPS[0], STEPS[-1]),
        Resources(),
        context.saying(what),
    )


_SUMMED = 32


def measure_controls(context: Context) -> Data:
    """Calculate the two terms of tables' variance in two ways."""
    tables = [("sticky context", sticky())]
    tables += [(f"FrozenLake8x8, {policy}", frozenlake(policy)) for policy in ("uniform", "mid")]
    return {"terms": [row for name, one in tables for row in _terms(name, one)]}


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
