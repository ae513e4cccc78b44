"""One stage's measurement: every layout's gradients, their ranking, and a closer look."""

from typing import Annotated, Literal

from msgspec import UNSET, Meta, UnsetType, field

from nbyt.results.values import (
    LONGEST,
    Count,
    Estimate,
    NotNegative,
    Objective,
    OfLayout,
    Real,
    Record,
    Share,
    Size,
    Text,
    Texts,
    Total,
    require,
)

Lambdas = Annotated[tuple[Share, ...], Meta(min_length=1, max_length=LONGEST)]


class Gradient(Record, frozen=True, kw_only=True):
    """The gradient of one objective under one layout."""

    individual: Estimate
    covariance: Estimate
    variance: Estimate
    ess_ratio: Estimate
    bias_sq: Estimate
    mse: Estimate
    cosine: Estimate
    bias_factor: Estimate
    noise_factor: Estimate
    alignment: Estimate
    phase: Estimate | UnsetType = UNSET
    bias_sq_advantage: Estimate | UnsetType = UNSET
    bias_sq_phase: Estimate | UnsetType = UNSET

    def of(self, quantity: str) -> Estimate:
        """Return one of the numbers that every gradient has."""
        number: Estimate = getattr(self, quantity)
        return number


class MeasuredLayout(OfLayout, frozen=True, kw_only=True):
    """A layout at one lambda, with its three gradients."""

    lam: Share = field(name="lambda")
    actor: Gradient
    critic: Gradient
    total: Gradient
    seconds: Estimate

    def of(self, objective: Objective) -> Gradient:
        """Return the gradient of an objective."""
        return {"actor": self.actor, "critic": self.critic, "total": self.total}[objective]


Layouts = Annotated[tuple[MeasuredLayout, ...], Meta(min_length=1, max_length=LONGEST)]


class Ranked(OfLayout, frozen=True, kw_only=True):
    """A layout's place among those of one stage."""

    lam: Share = field(name="lambda")
    rho: Estimate
    tied_with_best: bool
    win_share: Share
    regret: Estimate


Ranks = Annotated[tuple[Ranked, ...], Meta(min_length=1, max_length=LONGEST)]


class Rankings(Record, frozen=True, kw_only=True):
    """The layouts from the best to the worst, by objective."""

    actor: Ranks
    critic: Ranks
    total: Ranks

    def of(self, objective: Objective) -> Ranks:
        """Return the ranking by an objective."""
        return {"actor": self.actor, "critic": self.critic, "total": self.total}[objective]


class Lags(Record, frozen=True, kw_only=True):
    """Correlations of one objective's contributions, along a chain and across chains."""

    within: dict[Annotated[str, Meta(pattern="^[0-9]{1,9}$")], Estimate]
    across: Estimate
    independent: bool


class LagsOf(Record, frozen=True, kw_only=True):
    """Correlations by objective; total where both share a network or the entropy counts."""

    actor: Lags
    critic: Lags
    total: Lags | UnsetType = UNSET

    def __post_init__(self) -> None:
        others = [one for one in (self.critic, self.total) if one is not UNSET]
        same = all(one.within.keys() == self.actor.within.keys() for one in others)
        require(same, "objectives have different lags")

    def of(self, objective: Literal["actor", "critic"]) -> Lags:
        """Return the correlations of one objective."""
        return self.actor if objective == "actor" else self.critic


class Sources(Record, frozen=True, kw_only=True):
    """Where the noise of one objective comes from; what was calculated has fewer parts."""

    policy: Estimate
    environment: Estimate
    sampling: Estimate
    coupling: Estimate
    own_step: Estimate
    credit: Estimate
    variance: Estimate
    trajectory: Estimate | UnsetType = UNSET
    shared_luck: Estimate | UnsetType = UNSET
    policy_share: Estimate | UnsetType = UNSET
    environment_share: Estimate | UnsetType = UNSET


class ControlRow(OfLayout, frozen=True, kw_only=True):
    """A measured number of a control beside its exact value, and whether the interval holds it."""

    gradient: Objective
    number: Text
    measured: Estimate
    exact: Real | None
    inside: bool | None


class LayoutSources(OfLayout, frozen=True, kw_only=True):
    """Sources of noise under one layout."""

    actor: Sources
    critic: Sources

    def of(self, objective: Literal["actor", "critic"]) -> Sources:
        """Return the sources of one objective."""
        return self.actor if objective == "actor" else self.critic


class AllSources(Record, frozen=True, kw_only=True):
    """Sources of noise by layout, or the reason why there are none."""

    reason: Text | UnsetType = UNSET
    method: Literal["exact", "cloning"] | UnsetType = UNSET
    layouts: tuple[LayoutSources, ...] | UnsetType = UNSET

    def __post_init__(self) -> None:
        found = self.method is not UNSET and bool(self.layouts)
        require(found != (self.reason is not UNSET), "sources have layouts, or a reason")


class Cloud(Record, frozen=True, kw_only=True):
    """Gradients in a plane, in units of the true one's length."""

    mean: tuple[Real, Real]
    covariance: tuple[tuple[Real, Real], tuple[Real, Real]]
    points: Annotated[tuple[tuple[Real, Real], ...], Meta(max_length=LONGEST)]


class LayoutCloud(Cloud, frozen=True, kw_only=True):
    """Batches of one layout in a plane."""

    envs: Size
    steps: Size


class Look(Record, frozen=True, kw_only=True):
    """look-*.json: T and lambda together, sources of noise, and a picture."""

    lambdas: Lambdas
    layouts: Layouts
    left_out: Texts | UnsetType = UNSET
    sources: AllSources
    plane: Annotated[tuple[LayoutCloud, ...], Meta(max_length=LONGEST)]


class Pool(Record, frozen=True, kw_only=True):
    """The chains that a stage was measured with."""

    chains: Size
    steps: Size
    ahead: Count
    samples: Total


class Critic(Record, frozen=True, kw_only=True):
    """How well the critic predicts."""

    explained_variance: Estimate


class Precision(Record, frozen=True, kw_only=True):
    """What precision was asked for and reached, in so many rounds."""

    asked: Real | None
    reached: Real | None
    rounds: Count


class Engine(Record, frozen=True, kw_only=True):
    """How gradients were computed."""

    gradients: Literal["exact", "sketched"]
    sketch_places: Count
    chains_at_once: Size
    steps_at_once: Size
    total: Text
    wall_seconds: NotNegative


class MeasuredStage(Record, frozen=True, kw_only=True):
    """A frozen stage's gradient under every layout of one batch.

    stage: the fingerprint of the policy that was measured, or its folder.
    """

    env: Text
    batch: Size
    gamma: Share
    lam: Share = field(name="lambda")
    lambdas: Lambdas
    start: Literal["stationary", "reset"]
    advantages: Literal["normalised", "raw"]
    pool: Pool
    critic: Critic
    mean_return: Estimate
    layouts: Layouts
    ranking: Rankings
    lags: LagsOf
    sources: AllSources
    precision: Precision
    engine: Engine
    stage: Text | UnsetType = UNSET

    def __post_init__(self) -> None:
        layouts = {_place(one) for one in self.layouts}
        require(len(layouts) == len(self.layouts), "a layout comes twice")
        for ranks in (self.ranking.actor, self.ranking.critic, self.ranking.total):
            ranked = [_place(one) for one in ranks]
            require(
                len(ranked) == len(layouts) and set(ranked) == layouts,
                "a ranking has other layouts than those that were measured",
            )


class Measurement(MeasuredStage, frozen=True, kw_only=True):
    """measurement.json of an advice."""

    warnings: Texts


def _place(one: MeasuredLayout | Ranked) -> tuple[int, int, float]:
    return one.envs, one.steps, one.lam
