"""Three PPO trainings, each with an early and a late stage, for claims on mini-batches."""

from collections.abc import Iterator
from dataclasses import dataclass
from functools import partial
from typing import Any

from nbyt.layout import Layout
from nbyt.measure.auditing import frozen_batches
from nbyt.policy.actor_critic import Stage
from nbyt.stats import Estimate
from nbyt.training.losses import Batch
from nbyt.training.plan import PPOSettings
from nbyt_studies.experiment import Context, Training, env_name

LAYOUT = Layout(envs=16, steps=128, minibatch=64, epochs=10)
BATCHES = (16, 64)


@dataclass(frozen=True)
class Task:
    """An env, how PPO learns it, and the updates after which it is measured."""

    env: str
    settings: PPOSettings
    early: int
    late: int

    @property
    def name(self) -> str:
        """The env without its suite."""
        return env_name(self.env)


# Pendulum hardly learns with the usual discount and step size; a table needs a larger step.
TASKS = (
    Task("tabular:FrozenLake8x8-v1", PPOSettings(network="table", learning_rate=0.02), 10, 150),
    Task("gymnax:CartPole-v1", PPOSettings(), 4, 40),
    Task("gymnax:Pendulum-v1", PPOSettings(learning_rate=1e-3, gamma=0.9), 4, 40),
)


@dataclass(frozen=True)
class Moment:
    """A frozen stage of a task."""

    task: Task
    word: str
    training: Training
    stage: Stage

    @property
    def case(self) -> dict[str, str]:
        """Where a number was measured."""
        return {"env": self.task.name, "stage": self.word}

    def __str__(self) -> str:
        return " ".join(self.case.values())


def moments(context: Context) -> Iterator[Moment]:
    """Yield every task's early and late stage; quick: two tasks, trained half as long."""
    for task in context.pick(TASKS[:2], TASKS):
        yield from moments_of(context, task)


def moments_of(context: Context, task: Task) -> Iterator[Moment]:
    """Yield the task's early and late stage."""
    training = train(context, task, LAYOUT)
    for word, updates in (("early", task.early), ("late", last(context, task))):
        yield Moment(task, word, training, training.at(updates))


def batches_of(context: Context, moment: Moment, count: int = 0) -> list[Batch]:
    """Collect independent batches of a stage; the same context gives the same batches.

    count: how many, if not the usual number.
    """
    return frozen_batches(
        moment.training.env,
        moment.stage,
        LAYOUT,
        moment.task.settings,
        count or context.pick(*BATCHES),
        seed=context.seed,
        progress=partial(context.progress, f"{moment}: batches"),
    )


def train(context: Context, task: Task, layout: Layout, seed: int = 0) -> Training:
    """Return the task's run under a layout; train it once."""
    return context.trained(
        task.env,
        layout,
        stages=(task.early, last(context, task)),
        settings=task.settings,
        seed=seed,
    )


def last(context: Context, task: Task) -> int:
    """Return the number of updates of the task's run."""
    return context.pick(task.late // 2, task.late)


def plain(estimate: Estimate) -> dict[str, Any]:
    """Return the estimate as plain data, in four digits."""
    return {
        key: float(f"{value:.4g}") if isinstance(value, float) else value
        for key, value in estimate.as_dict().items()
    }
