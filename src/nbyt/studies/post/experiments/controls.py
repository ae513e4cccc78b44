"""Tables whose answer is known: the variance in two terms, and contexts that hardly change."""

from typing import Any

from nbyt.exact import Control, frozenlake, lags, moments, sticky
from nbyt.measure.probing import probe
from nbyt.results.values import Data
from nbyt.studies.bench import Bench
from nbyt.studies.post.experiments.layouts import GRADIENTS, told
from nbyt.studies.study import Experiment

# How likely the context is to change at a step: hardly ever, or as by a coin.
_FLIPS = {"hardly changes": 0.02, "changes at random": 0.5}
_STEPS = (2, 8, 32, 128)
_SUMMED = 32
_CHAINS = 64


def measure_controls(bench: Bench) -> Data:
    """The sticky context, measured; the two terms of the variance of tables, calculated twice."""
    contexts = []
    for words, flip in _FLIPS.items():
        control = sticky(flip)
        measured = probe(
            control.env,
            control.stage,
            batch=control.batch,
            steps=_STEPS,
            gamma=control.gamma,
            lam=control.lam,
            advantages="raw",
            chains=_CHAINS,
            seed=bench.seed,
            phase=False,
            progress=bench.saying(f"context that {words}"),
        )
        contexts.append({"context": words, "flip": flip, "raw": told(measured)})
    tables = [("sticky context", sticky())]
    tables += [(f"FrozenLake8x8, {policy}", frozenlake(policy)) for policy in ("uniform", "mid")]
    return {
        "batch": sticky().batch,
        "contexts": contexts,
        "terms": [row for name, one in tables for row in _terms(name, one)],
    }


def _terms(name: str, control: Control) -> list[Data]:
    """Individual and covariance of one rollout, and the sum over all pairs of its steps."""
    options: dict[str, Any] = {"gamma": control.gamma, "lam": control.lam, "steps": _SUMMED}
    exact = moments(control.env, control.stage, **options)
    paired = lags(control.env, control.stage, count=_SUMMED - 1, **options)
    rows = []
    for gradient in GRADIENTS:
        whole, summed = getattr(exact, gradient), getattr(paired, gradient).variance
        rows.append(
            {
                "table": name,
                "gradient": gradient,
                "individual": whole.individual,
                "covariance": whole.covariance,
                "variance": whole.variance,
                "summed_over_pairs": summed,
            }
        )
    return rows


EXPERIMENTS = (Experiment("controls", "tables with known answers", measure_controls),)
