"""Advice on a live Stable-Baselines3 model, with the answer and page of `nbyt advise`."""

import copy
import time
from collections.abc import Sequence
from functools import partial
from pathlib import Path
from typing import Any

from nbyt.train.costs import Costs, spread_out, time_layouts
from nbyt.advice.estimate import startable
from nbyt.advice.request import HOST_ENVS, AdviceRequest, make_advice_request
from nbyt.advice.request import effort as effort_named
from nbyt.advice.run import Advice, answer_request
from nbyt.advice.stages import open_folder, stage_to_measure
from nbyt.errors import UsageError
from nbyt.gradients.engines.torch_policy import undisturbed
from nbyt.integrations.sb3.envs import Given, host_env, vec_env
from nbyt.integrations.sb3.frozen_policy import FrozenSB3Policy, loss_of
from nbyt.integrations.sb3.policy import (
    engine_of,
    preserve_policy,
    require_as_trained,
    require_measurable,
)
from nbyt.layout import Layout
from nbyt.measure.request import Progress
from nbyt.numbers import SIZE, require
from nbyt.store.files import COSTS
from nbyt.train.plan import PPOSettings
from nbyt.train.timing import updates_of_a_turn

# An update takes long enough to be timed well, and long enough not to be timed often.
_ROUNDS = 3


def measure_costs(
    model: Any, env: Any, layouts: Sequence[Layout], trained: int | None, progress: Progress
) -> Costs:
    """Time updates of throw-away models like this one, at a few of the layouts.

    All envs of a model are in one process, in a DummyVecEnv.
    """
    with undisturbed(0):
        chosen, start = spread_out(layouts, trained), partial(_Throwaway, model, env)
        return time_layouts(chosen, start, rounds=_ROUNDS, progress=progress)


class _Throwaway:
    """A fresh model of the same kind at one layout, warmed up."""

    def __init__(self, model: Any, env: Any, layout: Layout) -> None:
        self.layout = layout
        self._envs = vec_env(model, env, layout.envs)
        self._model = _like(model, self._envs, layout)
        self._updates = updates_of_a_turn(self._go(1))

    def seconds(self) -> float:
        """Return the seconds of one update, averaged over a turn."""
        return self._go(self._updates) / self._updates

    def close(self) -> None:
        self._envs.close()

    def _go(self, updates: int) -> float:
        began = time.perf_counter()
        self._model.learn(updates * self.layout.batch, reset_num_timesteps=False)
        return time.perf_counter() - began


def _like(model: Any, envs: Any, layout: Layout) -> Any:
    given: dict[str, Any] = {
        "n_steps": layout.steps,
        "gamma": model.gamma,
        "gae_lambda": model.gae_lambda,
        "policy_kwargs": copy.deepcopy(model.policy_kwargs),
        "device": model.device,
        "verbose": 0,
    }
    if hasattr(model, "n_epochs"):
        given |= {"batch_size": layout.minibatch, "n_epochs": layout.epochs}
    try:
        return type(model)(model.policy_class, envs, **given)
    except TypeError as error:
        raise UsageError(
            f"a second {type(model).__name__} cannot be made to time it: {error}",
            where="model",
            fix='ask per="sample", which times nothing',
        ) from error


def advise(
    model: Any,
    *,
    batch: int | None = None,
    effort: str = "normal",
    per: str = "both",
    env: Given | None = None,
    max_envs: int = HOST_ENVS,
    out: Path | str | None = None,
    force: bool = False,
    seed: int = 0,
    progress: Progress = lambda what, done, total: None,
    **options: Any,
) -> Advice:
    """Advise which N x T to split a batch into, measured on the model's policy as it is now.

    The answer and the page are those of `nbyt advise`. The model is not trained or changed.

    Parameters
    ----------
    model
        A PPO or A2C model; not a file.
    batch
        Samples of a batch; the model's own by default.
    effort
        "quick", "normal" or "thorough".
    per
        "sample", "second" (timed with throw-away models) or "both".
    env
        A function that makes an env, or an id, if the model's own cannot be copied.
    max_envs
        The most envs that a layout may have.
    out, force
        The folder of the advice, and whether to clear another advice from it.
    seed
        Seed of the measurement.
    progress
        Called with what is under way, how much of it is done, and how much there is.
    **options
        Other arguments of `nbyt.advice.request.make_advice_request`, such as steps or lambdas.

    Returns
    -------
    Advice
        per_sample and per_second, all numbers in data, and the page in report.

    Examples
    --------
    >>> from stable_baselines3 import PPO
    >>> model = PPO("MlpPolicy", "CartPole-v1", n_steps=64, seed=0).learn(64)
    >>> advice = advise(model, effort="quick", out="runs/advice")  # doctest: +SKIP
    >>> advice.per_sample["envs"] * advice.per_sample["steps"]  # doctest: +SKIP
    64
    """
    batch, max_envs = require(SIZE, batch=batch, max_envs=max_envs)
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
        effort=effort_named(effort),
        current=current,
        minibatch=None if batch % minibatch else minibatch,
        epochs=getattr(model, "n_epochs", 1),
        settings=settings_of(model),
        max_envs=most,
        seed=seed,
        **options,
    )
    with preserve_policy(model.policy):
        target = stage_to_measure(FrozenSB3Policy(model, copied))
    folder = open_folder(request, [target], out, force=force)
    if per != "sample" and folder.read(COSTS) is None:
        layouts = [request.layout(steps) for steps in request.steps]
        folder.write(COSTS, measure_costs(model, env, layouts, current, progress).as_dict())
    with preserve_policy(model.policy):
        return answer_request(
            request,
            folder,
            given=[target],
            own=current,
            per=per,
            reproduce=_call(request, per, options),
            progress=progress,
        )


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


def _call(request: AdviceRequest, per: str, options: dict[str, Any]) -> str:
    """Return the call that repeats the request on the same model."""
    words = {"batch": request.batch, "effort": request.effort.name, "seed": request.seed}
    words |= {"per": per} if per != "both" else {}
    words |= {"max_envs": request.max_envs} if request.max_envs != HOST_ENVS else {}
    words |= options
    given = ", ".join(f"{name}={value!r}" for name, value in words.items())
    return f"nbyt.integrations.sb3.advise(model, {given})"
