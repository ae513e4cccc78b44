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
from nbyt.envs import HostEnv, resolve
from nbyt.errors import UsageError
from nbyt.layout import Layout
from nbyt.numbers import Passes, Size, Steps
from nbyt.policy.actor_critic import build
from nbyt.policy.q_policy import build_q
from nbyt.train import hardware
from nbyt.train.adaptive import AdaptivePlan, controller_for, first_layout
from nbyt.train.dqn import DQNPlan, DQNSettings, ReplayLayout
from nbyt.train.plan import HOST_ENVS, PPOPlan, PPOSettings


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

    layout: Literal["fixed", "auto"] = "fixed"
    """auto: T (and N with it) adapts during training, in powers of two."""

    batch: Size | None = None
    """With --layout auto: samples of an update, N x T, which stay the same."""

    max_envs: Size | None = None
    """With --layout auto: most envs to use; without, 64 for host envs."""


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
) -> PPOPlan | AdaptivePlan:
    found = resolve(env)
    # Built now, so that a network that does not fit the env is refused before anything is written.
    build(found.observation_space, found.action_space, settings.parsed_network)
    adapts = layout.layout == "auto"
    if adapts and settings.stagger and isinstance(found, HostEnv):
        message = "an adaptive layout cannot stagger host envs"
        fix = "leave --stagger out, or name --envs and --steps"
        raise UsageError(message, where="stagger", fix=fix)
    most = layout.max_envs or (HOST_ENVS if isinstance(found, HostEnv) else 2**62)
    sizes = _first_layout(layout, most) if adapts else _fixed_layout(layout)
    stages = stages_of(sizes.updates(options.total), options)
    given = (found.id, sizes, options.total, options.seed, settings, stages, options.vector)
    if not adapts:
        return PPOPlan(*given)
    return AdaptivePlan(*given, controller_for(sizes.updates(options.total)), most)


def _first_layout(layout: LayoutOptions, most: int) -> Layout:
    batch = layout.batch or layout.envs * layout.steps
    return first_layout(batch, layout.minibatch, layout.epochs, most)


def _fixed_layout(layout: LayoutOptions) -> Layout:
    for name in ("batch", "max_envs"):
        if getattr(layout, name) is not None:
            message = f"--{name.replace('_', '-')} needs --layout auto"
            fix = "add --layout auto, or give --envs and --steps"
            raise UsageError(message, where=name.replace("_", "-"), fix=fix)
    return Layout(layout.envs, layout.steps, layout.minibatch, layout.epochs)


def _ppo_dry_run(plan: PPOPlan | AdaptivePlan, *, as_json: bool) -> Outcome:
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
    from nbyt.train.algorithms.dqn import buffer_bytes  # PPO needs none of it

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
