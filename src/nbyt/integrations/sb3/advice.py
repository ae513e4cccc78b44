"""Advice on a live Stable-Baselines3 model: the same answer and page as `nbyt advise` gives."""

from pathlib import Path
from typing import Any

from nbyt.integrations.sb3.batch import loss_of
from nbyt.integrations.sb3.costs import measure_costs
from nbyt.integrations.sb3.envs import Given, host_env
from nbyt.integrations.sb3.frozen_policy import FrozenSB3Policy
from nbyt.integrations.sb3.measurable import require_as_trained, require_measurable
from nbyt.integrations.sb3.policy import engine_of, untouched
from nbyt.numbers import SIZE, require
from nbyt.train.settings import PPOSettings
from nbyt.workflow.advising import Advice, answer_request, open_folder
from nbyt.workflow.costs import Progress
from nbyt.workflow.effort import effort as effort_named
from nbyt.workflow.estimate import startable
from nbyt.workflow.request import HOST_ENVS, AdviceRequest, make_advice_request
from nbyt.workflow.stages import stage_to_measure


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
    """Which N x T to split a batch into, measured on the model's policy as it is now.

    batch: the model's own without. per: "sample", "second" (timed with throw-away models) or
    "both". env: a function that makes an env, or an id, where the model's own cannot be copied.
    options: the other words of `nbyt.workflow.request.make_advice_request`, such as steps, lambdas.
    The model is not trained, and nothing about it changes.
    """
    batch, max_envs = require(SIZE, batch=batch, max_envs=max_envs)
    require_measurable(model)
    require_as_trained(model, engine_of(model))
    size = model.n_envs * model.n_steps
    own = model.n_steps if batch in (None, size) else None
    with untouched(model.policy):
        found = host_env(model, env)
        most = max(startable(found, max_envs, batch=batch or size), model.n_envs if own else 1)
    request = make_advice_request(
        found,
        batch=size if batch is None else batch,
        effort=effort_named(effort),
        current=own,
        minibatch=_minibatch(model, size if batch is None else batch),
        epochs=getattr(model, "n_epochs", 1),
        settings=settings_of(model),
        max_envs=most,
        seed=seed,
        **options,
    )
    with untouched(model.policy):
        target = stage_to_measure(FrozenSB3Policy(model, found))
    folder = open_folder(request, [target], out, force=force)
    if per != "sample" and folder.load_costs() is None:
        layouts = [request.layout(steps) for steps in request.steps]
        folder.save_costs(measure_costs(model, env, layouts, own, progress).as_dict())
    with untouched(model.policy):
        return answer_request(
            request,
            folder,
            given=[target],
            own=own,
            per=per,
            reproduce=_call(request, per, options),
            progress=progress,
        )


def settings_of(model: Any) -> PPOSettings:
    """The numbers of the model's training that an advice depends on."""
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


def _minibatch(model: Any, batch: int) -> int | None:
    """The model's mini-batch where it divides the batch."""
    own = getattr(model, "batch_size", batch)
    return own if batch % own == 0 else None


def _call(request: AdviceRequest, per: str, options: dict[str, Any]) -> str:
    """The call that asks all of this again, of the same model."""
    words = {"batch": request.batch, "effort": request.effort.name, "seed": request.seed}
    words |= {"per": per} if per != "both" else {}
    words |= {"max_envs": request.max_envs} if request.max_envs != HOST_ENVS else {}
    words |= options
    given = ", ".join(f"{name}={value!r}" for name, value in words.items())
    return f"nbyt.integrations.sb3.advise(model, {given})"
