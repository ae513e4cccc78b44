"""`nbyt train --algo dqn`: DQN with exactly the sizes that were asked for."""

from dataclasses import dataclass
from typing import Annotated

from cyclopts import Parameter

from nbyt.cli.options import Common
from nbyt.cli.output import Outcome
from nbyt.cli.training import RunOptions, announce, carry_out, stages_of, weights_of, would_do
from nbyt.envs import resolve
from nbyt.numbers import Passes, Size, Steps
from nbyt.policy.q_policy import build_q
from nbyt.train import hardware
from nbyt.train.algorithms.dqn import buffer_bytes
from nbyt.train.dqn import DQNPlan, DQNSettings, ReplayLayout


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


def run(
    env: str,
    *,
    layout: Annotated[ReplayOptions, Parameter(name="*")] = ReplayOptions(),
    options: Annotated[RunOptions, Parameter(name="*")] = RunOptions(),
    settings: Annotated[DQNSettings, Parameter(name="*", group="Learning")] = DQNSettings(),
    common: Annotated[Common, Parameter(name="*")] = Common(),
) -> Outcome:
    """Train DQN with exactly the sizes you name, and keep stages.

    Parameters
    ----------
    env
        tabular:, gymnax:, gym: or envpool: and a name, package.module:make_env, or a bare name.
    """
    hardware.prepare(options.device, quiet=common.quiet)
    plan = _plan(env, layout, options, settings)
    weights = weights_of(plan, options.from_)
    announce(plan, common)
    if options.dry_run:
        return _dry_run(plan, as_json=common.json)
    return carry_out(plan, options, common, weights)


def _plan(env: str, layout: ReplayOptions, options: RunOptions, settings: DQNSettings) -> DQNPlan:
    sizes = ReplayLayout(**{**vars(layout), "buffer": layout.buffer or 0})
    stages = stages_of(sizes.updates(options.total), options)
    found = resolve(env)
    # Built now, so that an env without numbered actions is refused before anything is written.
    build_q(found.observation_space, found.action_space, settings.parsed_network)
    return DQNPlan(found.id, sizes, options.total, options.seed, settings, stages, options.vector)


def _dry_run(plan: DQNPlan, *, as_json: bool) -> Outcome:
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
