"""The true values of everything that a pool estimates, all from nbyt.exact."""

from typing import Any

import numpy as np

from benchmarks.calibration.cases import Case
from nbyt.exact import GradientMoments, lags, moments, phase
from nbyt.exact.gradient import endless_advantage
from nbyt.exact.problem import Problem, pose

GRADIENTS = ("actor", "critic", "total")
SQUARED = ("individual", "covariance", "variance", "bias_sq", "mse")
"""Fields that scale with the square of the advantages."""

ZERO = "the reference is zero"
NO_MEAN = "the mean gradient is zero"
NOTHING = "the critic is a constant and explains exactly nothing: the interval is a point"

# What a gate is about: T or 0 for the whole pool, the gradient or "", the field.
Key = tuple[int, str, str]
# The true value, or the reason why there is none.
Truth = float | str


def truths(case: Case) -> dict[Key, Truth]:
    """The true value, or why there is none, for everything that the case's pools estimate."""
    found: dict[Key, Truth] = {}
    by_steps = {steps: _moments(case, steps) for steps in case.steps}
    for steps, own in by_steps.items():
        for name in GRADIENTS:
            fields = _fields(getattr(own, name), case.control.batch // steps, case.start)
            found |= {(steps, name, field): truth for field, truth in fields.items()}
    for name in GRADIENTS:
        found |= _comparisons(case, name, {t: getattr(own, name) for t, own in by_steps.items()})
    found[0, "", "explained_variance"] = _explained(case)
    if case.normalise:
        actors = [(t, field) for t in case.steps for field in SQUARED]
        found |= {(t, "actor", f"printed_{field}"): found[t, "actor", field] for t, field in actors}
    if case.start == "stationary":
        found |= _lags(case)
    if case.phase:
        found |= _phases(case)
    return found


def spread(case: Case, steps: int) -> float:
    """The standard deviation of the advantages, where a case normalises them."""
    return _pose(case, steps, centre=True).weights.spread


def _moments(case: Case, steps: int) -> Any:
    control = case.control
    return moments(
        control.env,
        control.stage,
        steps=steps,
        gamma=control.gamma,
        lam=control.lam,
        start="reset" if case.start == "reset" else "stationary",
        centre=case.normalise,
    )


def _fields(own: GradientMoments, envs: int, start: str) -> dict[str, Truth]:
    cosine = own.cosine
    reference_is_zero = bool(np.linalg.norm(own.reference) <= own.grain)
    none = ZERO if reference_is_zero else NO_MEAN
    found: dict[str, Truth | None] = {
        "individual": own.individual / envs,
        "covariance": own.covariance / envs,
        "variance": own.variance / envs,
        "ess_ratio": own.ess_ratio,
        "bias_sq": own.bias.squared,
        "mse": own.mse(envs),
        "cosine": none if cosine is None else cosine,
        "bias_factor": none if own.bias_factor is None else own.bias_factor,
        "noise_factor": own.noise_factor(envs),
        "alignment": ZERO if reference_is_zero else own.alignment(envs),
    }
    if start == "reset":
        found["bias_sq_advantage"] = float(own.bias.advantage @ own.bias.advantage)
        found["bias_sq_phase"] = float(own.bias.phase @ own.bias.phase)
    return {field: "it does not vary" if x is None else x for field, x in found.items()}


def _comparisons(case: Case, name: str, by_steps: dict[int, GradientMoments]) -> dict[Key, Truth]:
    """rho of the shortest T against each other T: difference and ratio; and every T's regret."""
    rho = {t: _rho(case, name, t, own) for t, own in by_steps.items()}
    zero = all(np.linalg.norm(own.reference) <= own.grain for own in by_steps.values())
    found: dict[Key, Truth] = {}
    first = case.steps[0]
    for steps in case.steps[1:]:
        found[steps, name, "rho_difference"] = ZERO if zero else rho[first] - rho[steps]
        found[steps, name, "rho_ratio"] = ZERO if zero else rho[first] / rho[steps]
    if case.ranking and name == "actor":
        scores = {t: r * abs(r) for t, r in rho.items()}
        best = max(scores.values())
        found |= {(t, name, "regret"): 1 - score / best for t, score in scores.items()}
    return found


def _rho(case: Case, name: str, steps: int, own: GradientMoments) -> float:
    """G* . E G / sqrt(|E G|^2 + V / N), in units of G* that all T share."""
    length = float(own.mean @ own.mean) + own.variance * steps / case.control.batch
    rho = float(own.reference @ own.mean) / length**0.5
    if not case.normalise or name == "critic":
        return rho
    return (
        rho * spread(case, steps) if name == "actor" else rho / float(np.linalg.norm(own.reference))
    )


def _explained(case: Case) -> Truth:
    """1 - Var(return - V) / Var(return) under the stationary law, the return having no end."""
    problem = _pose(case, None, lam=1.0)
    chain, law = problem.chain, problem.stationary
    advantage = endless_advantage(chain)
    value = problem.scores.values[chain.observation][:, None]
    weight = law[:, None] * chain.policy

    def mean(table: np.ndarray) -> float:
        return float((weight * table).sum())

    error = mean(advantage.square) - mean(advantage.mean) ** 2
    returns = mean(advantage.square + 2 * value * advantage.mean + value**2)
    whole = returns - mean(advantage.mean + value) ** 2
    return NOTHING if abs(error - whole) <= 1e-9 * whole else 1 - error / whole


def _lags(case: Case) -> dict[Key, Truth]:
    """Correlation at every lag of an endless rollout; that across independent chains is 0."""
    control = case.control
    count = case.chain_steps // 2
    own = lags(
        control.env,
        control.stage,
        steps=None,
        gamma=control.gamma,
        lam=control.lam,
        count=count,
        centre=case.normalise,
    )
    found: dict[Key, Truth] = {}
    for name in ("actor", "critic"):
        correlation = getattr(own, name).correlation
        found |= {
            (0, name, f"lag_{2**k}"): float(correlation[2**k]) for k in range(10) if 2**k <= count
        }
        found[0, name, "across"] = 0.0
    return found


def _phases(case: Case) -> dict[Key, Truth]:
    control = case.control
    found: dict[Key, Truth] = {}
    for steps in case.steps:
        own = phase(
            control.env,
            control.stage,
            steps=steps,
            gamma=control.gamma,
            lam=control.lam,
            updates=case.chain_steps // steps,
        )
        found |= {(steps, name, "phase"): getattr(own, name).variance for name in GRADIENTS}
    return found


def _pose(
    case: Case, steps: int | None, *, lam: float | None = None, centre: bool = False
) -> Problem:
    control = case.control
    return pose(
        control.env,
        control.stage,
        steps=steps,
        gamma=control.gamma,
        lam=control.lam if lam is None else lam,
        centre=centre,
    )
