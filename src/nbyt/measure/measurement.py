"""Measurement: the result of a probe, layout by layout, every number with its interval."""

from dataclasses import dataclass, field
from html import escape
from typing import Any

from nbyt.errors import LayoutError
from nbyt.frames import frame
from nbyt.gradients.spec import AdvantageScale
from nbyt.measure.request import Request
from nbyt.plotly_figure import plotly_figure
from nbyt.stats.estimate import Estimate
from nbyt.stats.lags import LagProfile
from nbyt.stats.pool import LayoutMeasurement, LayoutProducts, ranked_layouts
from nbyt.stats.ranking import Candidate, Comparison, Ranking, compare


@dataclass(frozen=True)
class Measurement:
    """A frozen stage's gradient under every layout of one batch.

    rankings: layouts (all lambdas) by objective, as places in `layouts`. lags: correlation of
    contributions along a chain and across chains. sources: where the noise comes from, or why
    that was not measured. products: what the estimates were made from, for further statistics.
    scale: by what the advantages of each T and lambda were centred and divided.
    """

    env: str
    request: Request
    chains: int
    layouts: tuple[LayoutMeasurement, ...]
    explained_variance: Estimate
    mean_return: Estimate
    rankings: dict[str, Ranking]
    lags: dict[str, LagProfile]
    sources: dict[str, Any]
    precision: dict[str, Any]
    engine: dict[str, Any]
    warnings: tuple[str, ...] = ()
    products: LayoutProducts = field(default_factory=dict, repr=False)
    scale: AdvantageScale | None = field(default=None, repr=False)

    def __str__(self) -> str:
        """Return the actor's alignment and noise by layout, best first."""
        ranking = self.rankings["actor"]
        lines = [
            f"{self.env}: batch {self.request.batch}, {self.chains} chains, gradient of the actor",
            f"{'N x T':>12} {'lambda':>6}  {'alignment':<26} {'ESS/NT':<26}",
        ]
        for place in ranking.order:
            layout = self.layouts[place]
            mark = "*" if place == ranking.order[0] else "=" if place in ranking.ties else " "
            name = f"{layout.envs} x {layout.steps}"
            numbers = f"{layout.actor.alignment!s:<26} {layout.actor.ess_ratio!s:<26}"
            lines.append(f"{mark}{name:>11} {layout.lam:>6g}  {numbers}".rstrip())
        notes = [f"note: {warning}" for warning in self.warnings]
        return "\n".join([*lines, "* best   = tied with it", *notes])

    def layout(
        self, *, steps: int, envs: int | None = None, lam: float | None = None
    ) -> LayoutMeasurement:
        """Return the measurement of one layout; without lam, at the first lambda."""
        wanted = self.request.lambdas[0] if lam is None else lam
        for one in self.layouts:
            if (one.steps, one.lam) == (steps, wanted) and envs in (None, one.envs):
                return one
        known = ", ".join(f"{one.envs}x{one.steps}" for one in self.layouts if one.lam == wanted)
        raise LayoutError(
            f"{envs or '?'}x{steps} at lambda {wanted} was not measured",
            where="layout",
            fix=f"measured: {known or f'lambdas {self.request.lambdas}'}",
        )

    def compare(
        self, first: tuple[int, int], second: tuple[int, int], objective: str = "actor"
    ) -> Comparison:
        """Compare two layouts (envs, steps), paired on the same chains."""
        lam = self.request.lambdas[0]
        candidates = [
            Candidate(self.products[objective, self.layout(envs=n, steps=t).steps, lam], n)
            for n, t in (first, second)
        ]
        return compare(*candidates)

    def to_frame(self) -> Any:
        """Return a table of pandas with a row for each layout and lambda."""
        return frame(one.as_dict() for one in self.layouts)

    def plot(self) -> Any:
        """Return the actor's alignment over T, at the first lambda, as a figure of Plotly."""
        rows = [one for one in self.layouts if one.lam == self.request.lambdas[0]]
        found = [one.actor.alignment for one in rows]
        # Where there is no value or no interval, nothing is drawn of it.
        ends = [(one.value, one.low, one.high) for one in found]
        bars = {
            "type": "data",
            "symmetric": False,
            "array": [high and value and high - value for value, _, high in ends],
            "arrayminus": [low and value and value - low for value, low, _ in ends],
        }
        points = {
            "type": "scatter",
            "x": [one.steps for one in rows],
            "y": [one.value for one in found],
            "error_y": bars,
        }
        axes = {
            "xaxis": {"type": "log", "title": {"text": "T"}},
            "yaxis": {"title": {"text": "alignment of the actor's gradient"}},
        }
        return plotly_figure({"data": [points], "layout": axes})

    def _repr_html_(self) -> str:
        return f"<pre>{escape(str(self))}</pre>"

    def as_dict(self) -> dict[str, Any]:
        """Return the form that JSON output promises."""
        request = self.request
        return {
            "env": self.env,
            "batch": request.batch,
            "gamma": request.gamma,
            "lambda": request.lambdas[0],
            "lambdas": list(request.lambdas),
            "start": request.start,
            "advantages": "normalised" if request.normalise else "raw",
            "pool": {
                "chains": self.chains,
                "steps": request.chain_steps,
                "ahead": request.ahead,
                "samples": self.chains * (request.chain_steps + request.ahead),
            },
            "critic": {"explained_variance": self.explained_variance.as_dict()},
            "mean_return": self.mean_return.as_dict(),
            "layouts": [layout.as_dict() for layout in self.layouts],
            "ranking": {
                name: ranked_layouts(ranking, self.layouts)
                for name, ranking in self.rankings.items()
            },
            "lags": {name: profile.as_dict() for name, profile in self.lags.items()},
            "sources": self.sources,
            "precision": self.precision,
            "engine": self.engine,
        }
