"""Sources of noise for a measurement: exact on tables, by cloning elsewhere, or why not.

The oracle and the clones are imported only where sources are asked for.
"""

from typing import Any

from nbyt.collect import Progress
from nbyt.envs.protocol import DeviceEnv, HostEnv
from nbyt.errors import LayoutError, UsageError
from nbyt.gradients.spec import AdvantageScale
from nbyt.measure.frozen_policy import FrozenPolicy, FrozenStage
from nbyt.measure.request import Request
from nbyt.policy.actor_critic import Stage

OBJECTIVES = ("actor", "critic")
NAMES = ("sampling", "own_step", "credit", "coupling", "environment", "policy", "variance")
OTHER_FRAMEWORK = "sources of noise are traced for nbyt's own policies, not for those of other code"
# Env steps that cloning may take, and the rollouts that keep an interval usable.
_STEPS = 8_000_000
_HOST_STEPS = 200_000
_LEAST_ROLLOUTS, _MOST_ROLLOUTS = 64, 4096


def require_measured(request: Request, steps: tuple[int, ...]) -> None:
    """Raise if sources are asked for at a T that is not measured."""
    for length in steps:
        if length not in request.steps:
            raise LayoutError(
                f"sources at {length} steps: that length is not measured",
                where="sources",
                fix=f"choose among {', '.join(map(str, request.steps))}",
            )


def sources_of(
    frozen_policy: FrozenPolicy,
    request: Request,
    steps: tuple[int, ...],
    scale: AdvantageScale,
    progress: Progress,
) -> dict[str, Any]:
    """Trace the sources at each of the given T, or return the reason why there are none.

    They are those of the raw advantages where the answer is exact, else of the request's own.
    """
    if not steps:
        return {"reason": "not asked for"}
    from nbyt.gradients.host_clones import why_not

    if not isinstance(frozen_policy, FrozenStage):
        return {"reason": OTHER_FRAMEWORK}
    env, stage = frozen_policy.env, frozen_policy.stage
    if isinstance(env, HostEnv) and (reason := why_not(env)):
        return {"reason": reason}
    exact = _exact(env, stage, request, steps)
    if exact is not None:
        return {"method": "exact", "layouts": exact}
    layouts = [_cloned(env, stage, request, length, scale, progress) for length in steps]
    return {"method": "cloning", "layouts": layouts}


def _exact(
    env: DeviceEnv | HostEnv, stage: Stage, request: Request, steps: tuple[int, ...]
) -> list[dict[str, Any]] | None:
    """Calculate the sources on tables; None where the env is not a table or is too large."""
    from nbyt.envs.tabular import TabularEnv
    from nbyt.exact import sources as exact_sources

    if not isinstance(env, TabularEnv):
        return None
    layouts = []
    for length in steps:
        envs = request.batch // length
        try:
            found = exact_sources(
                env,
                stage,
                steps=length,
                gamma=request.gamma,
                lam=request.lambdas[0],
                start=request.start,
                centre=request.normalise,
            )
        except UsageError:  # a table too large to calculate with can still be cloned
            return None
        layouts.append(
            {
                "envs": envs,
                "steps": length,
                **{name: _plain(getattr(found, name), envs) for name in OBJECTIVES},
            }
        )
    return layouts


def _plain(found: Any, envs: int) -> dict[str, dict[str, float]]:
    values = {name: float(getattr(found, name)) / envs for name in NAMES}
    return {name: {"value": x, "low": x, "high": x} for name, x in values.items()}


def _cloned(
    env: DeviceEnv | HostEnv,
    stage: Stage,
    request: Request,
    steps: int,
    scale: AdvantageScale,
    progress: Progress,
) -> dict[str, Any]:
    from nbyt.gradients.sources import measure_sources

    place, envs = request.steps.index(steps), request.batch // steps
    estimates = measure_sources(
        env,
        stage.policy,
        stage.params,
        steps=steps,
        gamma=request.gamma,
        lam=request.lambdas[0],
        rollouts=_rollouts(env, steps),
        seed=request.seed,
        mean=float(scale.mean[place, 0]),
        spread=float(scale.spread[place, 0]),
        reward_scale=stage.facts.get("reward_scale"),
        progress=lambda done, total: progress(f"clones at {steps} steps", done, total),
    )
    by_objective = {name: estimates[name].over(envs).as_dict() for name in OBJECTIVES}
    return {"envs": envs, "steps": steps, **by_objective}


def _rollouts(env: DeviceEnv | HostEnv, steps: int) -> int:
    """Return as many rollouts as the steps allow: the cost of one grows with the square of T."""
    from nbyt.gradients.clones import cost

    allowed = (_HOST_STEPS if isinstance(env, HostEnv) else _STEPS) // cost(steps, 1)
    return max(_LEAST_ROLLOUTS, min(_MOST_ROLLOUTS, allowed))
