"""Controls: problems whose exact answer is calculated and printed with the measured one."""

from collections.abc import Callable
from typing import Any

from nbyt.collect import Progress
from nbyt.exact import Control, GradientMoments, frozenlake, moments, sticky, taxi
from nbyt.measure.measurement import Measurement
from nbyt.measure.probe import probe
from nbyt.stats.estimate import Estimate
from nbyt.stats.pool import OBJECTIVES

CONTROLS: dict[str, Callable[[], Control]] = {
    "sticky": sticky,
    "frozenlake": frozenlake,
    "taxi": taxi,
}


def beside_exact(
    control: Control,
    *,
    seed: int = 0,
    chains: int = 128,
    progress: Progress = lambda what, done, total: None,
) -> tuple[Measurement, list[dict[str, Any]]]:
    """Measure a control; also return a row for every number that has an exact counterpart."""
    measured = probe(
        control.env,
        control.stage,
        batch=control.batch,
        steps=control.steps,
        gamma=control.gamma,
        lam=control.lam,
        chains=chains,
        seed=seed,
        phase=False,
        progress=progress,
    )
    rows = []
    for one in measured.layouts:
        exact = moments(
            control.env, control.stage, steps=one.steps, gamma=control.gamma, lam=control.lam
        )
        for objective in OBJECTIVES:
            estimates = one.gradient(objective)
            for name, truth in exact_numbers(getattr(exact, objective), one.envs).items():
                row = _row(getattr(estimates, name), truth)
                place = {"envs": one.envs, "steps": one.steps, "gradient": objective}
                rows.append({**place, "number": name, **row})
    return measured, rows


def exact_numbers(exact: GradientMoments, envs: int) -> dict[str, float | None]:
    """Return the exact counterparts of `GradientEstimates` for N envs; None where undefined."""
    return {
        "individual": exact.individual / envs,
        "covariance": exact.covariance / envs,
        "variance": exact.variance / envs,
        "ess_ratio": exact.ess_ratio,
        "bias_sq": exact.bias.squared,
        "mse": exact.mse(envs),
        "cosine": exact.cosine,
        "bias_factor": exact.bias_factor,
        "noise_factor": exact.noise_factor(envs),
        "alignment": exact.alignment(envs),
    }


def _row(found: Estimate, truth: float | None) -> dict[str, Any]:
    inside = None
    if truth is not None and found.low is not None and found.high is not None:
        inside = bool(found.low <= truth <= found.high)
    return {"measured": found.as_dict(), "exact": truth, "inside": inside}
