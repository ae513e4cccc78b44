"""Advice on a live Stable-Baselines3 model, with the answer and page of `nbyt advise`."""

import math
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from nbyt.advice.estimate import startable
from nbyt.advice.request import AdviceRequest, make_advice_request
from nbyt.advice.request import effort as effort_named
from nbyt.advice.result import Advice
from nbyt.advice.run import answer_request
from nbyt.advice.stages import open_folder, stage_to_measure
from nbyt.collect import Progress
from nbyt.integrations.rules import Recommendation
from nbyt.integrations.sb3.callback import GradientProbe
from nbyt.integrations.sb3.envs import Given, host_env
from nbyt.integrations.sb3.frozen_policy import FrozenSB3Policy, loss_of
from nbyt.integrations.sb3.policy import (
    engine_of,
    preserve_policy,
    require_as_trained,
    require_measurable,
)
from nbyt.integrations.sb3.race import SB3Runner, measure_costs
from nbyt.numbers import POSITIVE, SIZE, require
from nbyt.progress import Shown, watching
from nbyt.store.files import COSTS
from nbyt.training.costs import Costs, costs_from
from nbyt.training.plan import HOST_ENVS, PPOSettings

# A model that was trained for less is taken to be at its beginning.
_LEAST_UPDATES = 20
# Of a race by default; and the trainings below which it would compare nothing.
_SECONDS, _LEAST_TRAININGS = 90.0, 1.0


def advise(
    model: Any,
    *,
    batch: int | None = None,
    objective: str = "time",
    trainings: float | None = None,
    costs: str | None = None,
    total: int | None = None,
    effort: str = "quick",
    steps: Sequence[int] = (),
    env: Given | None = None,
    max_envs: int = HOST_ENVS,
    out: Path | str | None = None,
    force: bool = False,
    seed: int = 0,
    history: GradientProbe | None = None,
    seconds: float | None = None,
    progress: Shown = True,
) -> Advice:
    """Advise which N x T to split a batch into, by trainings of models like this one.

    The answer and the page are those of `nbyt advise`; what is raced are new models of the same
    class, policy and settings. The model itself is not trained or changed; its policy as it is now
    is measured to explain the answer.

    Parameters
    ----------
    model
        A PPO or A2C model; not a file.
    batch
        Samples of a batch; the model's own by default.
    objective, trainings, costs
        As for `nbyt.advise`; costs are those of models like this one by default.
    total
        Env steps of the training that the advice is for; by default what the model has been
        trained for.
    effort
        "quick", "normal" or "thorough": 2, 4 or 8 trainings.
    steps
        The T to compare; the divisors of the batch by default.
    env
        A function that makes an env, or an id, if the model's own cannot be copied.
    max_envs
        The most envs that a layout may have.
    out, force
        The folder of the advice, and whether to clear another advice from it.
    seed
        Seed of all randomness.
    history
        The probe of a training of this model. What it found is said with the answer, and what it
        has closed is not raced: longer rollouts of fewer envs, where few envs are the fault.
    seconds
        About how long the trainings of the race may take; 90 by default, where neither trainings
        nor another effort is asked for. There are fewer of them then.
    progress
        Shown on a terminal or in a notebook by default; False for silence, or a function that is
        called with what is under way, how much of it is done, and how much there is.

    Returns
    -------
    Advice
        The layout to use for the same time and for the same samples, and the page in report.

    Examples
    --------
    >>> from stable_baselines3 import PPO
    >>> model = PPO("MlpPolicy", "CartPole-v1", n_steps=64, seed=0).learn(64)
    >>> advice = advise(model, trainings=1, out="runs/advice")  # doctest: +SKIP
    >>> advice.time.envs * advice.time.steps  # doctest: +SKIP
    64
    """
    batch, max_envs = require(SIZE, batch=batch, max_envs=max_envs)
    (seconds,) = require(POSITIVE, seconds=seconds)
    if seconds is None and trainings is None and effort == "quick":
        seconds = _SECONDS
    require_measurable(model)
    require_as_trained(model, engine_of(model))
    size = model.n_envs * model.n_steps
    batch = batch or size
    current = model.n_steps if batch == size else None
    minibatch = getattr(model, "batch_size", batch)
    with preserve_policy(model.policy):
        copied = host_env(model, env)
        most = max(startable(copied, max_envs, batch=batch), model.n_envs if current else 1)
    request = make_advice_request(
        copied,
        batch=batch,
        objective=objective,
        trainings=trainings,
        costs=costs,
        total=total or _trained_for(model, batch),
        effort=effort_named(effort),
        steps=steps,
        current=current,
        minibatch=None if batch % minibatch else minibatch,
        epochs=getattr(model, "n_epochs", 1),
        settings=settings_of(model),
        max_envs=most,
        stages=1,
        seed=seed,
    )
    findings = () if history is None else history.summary().findings
    request, remarks = _still_open(request, findings)
    with watching(progress) as told:
        return _answered(model, request, env, out, force, seconds, remarks, told)


def _answered(
    model: Any,
    request: AdviceRequest,
    env: Given | None,
    out: Path | str | None,
    force: bool,
    seconds: float | None,
    remarks: Sequence[str],
    progress: Progress,
) -> Advice:
    copied: Any = request.env
    with preserve_policy(model.policy):
        target = stage_to_measure(FrozenSB3Policy(model, copied))
    folder = open_folder(request, out, given=[target], force=force)
    if request.objective == "time" and request.costs.timed_here and folder.read(COSTS) is None:
        layouts = [request.layout(one) for one in request.steps]
        folder.write(COSTS, measure_costs(model, env, layouts, request.own, progress).record)
    kept = folder.read(COSTS)
    if seconds is not None and kept is not None:
        request = _within(request, costs_from(kept), seconds)
    with preserve_policy(model.policy):
        return answer_request(
            request,
            folder,
            given=[target],
            runner=SB3Runner(model, env),
            reproduce=_call(request),
            remarks=remarks,
            progress=progress,
        )


def _still_open(
    request: AdviceRequest, findings: Sequence[Recommendation]
) -> tuple[AdviceRequest, list[str]]:
    """Leave out of the race what the training itself has closed, and say what it showed."""
    remarks = [f"the training of this model showed: {one}" for one in findings]
    few = any(one.rule == "few_envs" for one in findings)
    shorter = tuple(one for one in request.steps if request.own and one <= request.own)
    if few and len(shorter) >= 2 and shorter != request.steps:
        remarks.append(f"T above {request.own} was not raced: fewer envs would be worth still less")
        request = replace(request, steps=shorter)
    return request, remarks


def _within(request: AdviceRequest, costs: Costs, seconds: float) -> AdviceRequest:
    """Lower the trainings of the race to what about so many seconds pay for."""
    updates = request.total / request.batch
    each = [one.value or 0.0 for one in costs.seconds(request.layouts)]
    whole = updates * sum(each) / len(each)
    affordable = max(_LEAST_TRAININGS, math.floor(4 * seconds / whole) / 4) if whole else math.inf
    return replace(request, trainings=min(request.trainings, affordable))


def _trained_for(model: Any, batch: int) -> int | None:
    """Return the env steps that the model was asked to train for; None if hardly any."""
    known = int(getattr(model, "_total_timesteps", 0))
    return known if known >= _LEAST_UPDATES * batch else None


def settings_of(model: Any) -> PPOSettings:
    """Return the numbers of the model's training that an advice depends on."""
    loss, rate = loss_of(model), model.learning_rate
    first = float(rate(1.0) if callable(rate) else rate)
    return PPOSettings(
        gamma=float(model.gamma),
        lam=float(model.gae_lambda),
        # A schedule may begin at 0, which no training can be advised to keep.
        learning_rate=first or PPOSettings().learning_rate,
        value_coefficient=loss.value_coefficient,
        entropy_coefficient=loss.entropy_coefficient,
    )


def _call(request: AdviceRequest) -> str:
    """Return the call that repeats the request on the same model."""
    words: dict[str, Any] = {
        "batch": request.batch,
        "trainings": request.trainings,
        "total": request.total,
        "seed": request.seed,
    }
    words |= {"objective": request.objective} if request.objective != "time" else {}
    words |= {"costs": request.costs.text} if not request.costs.timed_here else {}
    words |= {"max_envs": request.max_envs} if request.max_envs != HOST_ENVS else {}
    given = ", ".join(f"{name}={value!r}" for name, value in words.items())
    return f"nbyt.integrations.sb3.advise(model, {given})"
