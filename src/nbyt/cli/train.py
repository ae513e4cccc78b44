"""`nbyt train`: PPO, or DQN, with exactly the layout that was asked for.

The algorithms differ in their options, so each has a command function of its own.
"""

from dataclasses import dataclass
from math import prod
from typing import Annotated, Literal

import numpy as np
from cyclopts import Parameter

from nbyt.cli.options import EnvId, Settings
from nbyt.cli.output import Common, Outcome
from nbyt.cli.training import RunOptions, announce, carry_out, stages_of, weights_of, would_do
from nbyt.envs import resolve
from nbyt.errors import UsageError
from nbyt.layout import Layout
from nbyt.numbers import Passes, Size, Steps
from nbyt.policy.actor_critic import build
from nbyt.policy.q_policy import build_q
from nbyt.training import hardware
from nbyt.training.dqn import DQNPlan, DQNSettings, ReplayLayout
from nbyt.training.plan import PPOPlan, PPOSettings


@dataclass(frozen=True)
class LayoutOptions:
    """Sizes of one update."""

    envs: Size = 8
    """Parallel environments (N)."""

    steps: Size = 256
    """Rollout steps of each environment between two updates (T)."""

    minibatch: Size = 256
    """Samples of one gradient step; must divide envs x steps."""

    epochs: Passes = 4
    """Passes over the batch in one update."""

    # Of what was removed, so that old commands and option files are answered in words.
    layout: Annotated[Literal["fixed", "auto"], Parameter(show=False)] = "fixed"
    batch: Annotated[str, Parameter(show=False)] = ""
    max_envs: Annotated[str, Parameter(show=False)] = ""


def run_ppo(
    env: EnvId,
    *,
    layout: Annotated[LayoutOptions, Parameter(name="*")] = LayoutOptions(),
    options: Annotated[RunOptions, Parameter(name="*")] = RunOptions(),
    settings: Annotated[Settings, Parameter(name="*")] = PPOSettings(),
    common: Annotated[Common, Parameter(name="*")] = Common(),
) -> Outcome:
    """Train PPO with exactly the layout you name, and keep stages."""
    hardware.prepare(options.device, quiet=common.quiet)
    plan = _ppo_plan(env, layout, options, settings)
    weights = weights_of(plan, options.from_)
    announce(plan, common)
    if options.dry_run:
        return _ppo_dry_run(plan, as_json=common.json)
    return carry_out(plan, options, common, weights)


def _ppo_plan(
    env: str, layout: LayoutOptions, options: RunOptions, settings: PPOSettings
) -> PPOPlan:
    _refuse_removed(layout)
    found = resolve(env)
    # Built now, so that a network that does not fit the env is refused before anything is written.
    build(found.observation_space, found.action_space, settings.parsed_network)
    sizes = Layout(layout.envs, layout.steps, layout.minibatch, layout.epochs)
    stages = stages_of(sizes.updates(options.total), options)
    given = (found.id, sizes, options.total, options.seed, settings, stages, options.vector)
    return PPOPlan(*given)


def _refuse_removed(layout: LayoutOptions) -> None:
    """Refuse the options of layouts that adapt during training."""
    fix = "ask `nbyt advise`, or use --steps 512 (16 where more envs take no more time)"
    if layout.layout == "auto":
        message = "--layout auto was removed, because it did not beat a constant T"
        raise UsageError(message, where="layout", fix=fix)
    for name in ("batch", "max_envs"):
        if getattr(layout, name):
            option = name.replace("_", "-")
            message = f"--{option} belonged to --layout auto, which was removed"
            raise UsageError(message, where=option, fix=fix)


def _ppo_dry_run(plan: PPOPlan, *, as_json: bool) -> Outcome:
    env = resolve(plan.env)
    sample = np.dtype(env.observation_space.dtype).itemsize * prod(
        env.observation_space.shape or ()
    )
    # Observation, final observation, and eight numbers of each step; a mini-batch is a copy.
    memory = plan.layout.batch * (2 * sample + 8 * 4)
    data = {
        "updates": plan.updates,
        "gradient_steps": plan.updates * plan.layout.gradient_steps,
        "environment_steps": plan.updates * plan.layout.batch,
        "batch_bytes": memory,
        "stages_after_updates": list(plan.stages),
    }
    return would_do(plan, data, as_json=as_json)


@dataclass(frozen=True)
class ReplayOptions:
    """Sizes of one update."""

    envs: Size = 1
    """Parallel environments (N)."""

    steps: Size = 4
    """Steps of each environment between two updates (T)."""

    minibatch: Size = 32
    """Transitions of one gradient step, drawn from the buffer."""

    gradient_steps: Passes = 1
    """Gradient steps in one update."""

    buffer: Size | None = None
    """Transitions that the replay buffer holds, a multiple of N x T; without, about 100,000."""

    warm_up: Steps = 1000
    """Environment steps with random actions before learning begins."""


def run_dqn(
    env: EnvId,
    *,
    layout: Annotated[ReplayOptions, Parameter(name="*")] = ReplayOptions(),
    options: Annotated[RunOptions, Parameter(name="*")] = RunOptions(),
    settings: Annotated[DQNSettings, Parameter(name="*", group="Learning")] = DQNSettings(),
    common: Annotated[Common, Parameter(name="*")] = Common(),
) -> Outcome:
    """Train DQN with exactly the sizes you name, and keep stages."""
    hardware.prepare(options.device, quiet=common.quiet)
    plan = _dqn_plan(env, layout, options, settings)
    weights = weights_of(plan, options.from_)
    announce(plan, common)
    if options.dry_run:
        return _dqn_dry_run(plan, as_json=common.json)
    return carry_out(plan, options, common, weights)


def _dqn_plan(
    env: str, layout: ReplayOptions, options: RunOptions, settings: DQNSettings
) -> DQNPlan:
    sizes = ReplayLayout(**{**vars(layout), "buffer": layout.buffer or 0})
    stages = stages_of(sizes.updates(options.total), options)
    found = resolve(env)
    # Built now, so that an env without numbered actions is refused before anything is written.
    build_q(found.observation_space, found.action_space, settings.parsed_network)
    return DQNPlan(found.id, sizes, options.total, options.seed, settings, stages, options.vector)


def _dqn_dry_run(plan: DQNPlan, *, as_json: bool) -> Outcome:
    from nbyt.training.algorithms.dqn import buffer_bytes  # PPO needs none of it

    sizes = plan.layout
    waiting = (sizes.warm_up - 1) // sizes.fresh  # updates that come before learning begins
    data = {
        "updates": plan.updates,
        "gradient_steps": (plan.updates - waiting) * sizes.gradient_steps,
        "environment_steps": plan.updates * sizes.fresh,
        "buffer_bytes": buffer_bytes(sizes, resolve(plan.env)),
        "stages_after_updates": list(plan.stages),
    }
    return would_do(plan, data, as_json=as_json)
