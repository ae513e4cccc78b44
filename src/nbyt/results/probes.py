"""A probed training: probes.json, and a record for every update that was measured."""

from html import escape
from typing import Annotated, Literal

from msgspec import UNSET, Meta, UnsetType

from nbyt.results.measurement import Layouts
from nbyt.results.values import (
    LONGEST,
    Count,
    Estimate,
    Layout,
    Leaf,
    Machine,
    Names,
    NotNegative,
    Objective,
    Real,
    Record,
    Share,
    Size,
    Text,
    Texts,
)


class BatchGradient(Record, frozen=True, kw_only=True):
    """One gradient of a batch: its noise, and what it is made of."""

    individual: Estimate
    covariance: Estimate
    variance: Estimate
    ess_ratio: Estimate
    covariance_share: Estimate
    noise_factor: Estimate
    noise_scale: Estimate

    def of(self, quantity: str) -> Estimate:
        """Return one of its numbers."""
        number: Estimate = getattr(self, quantity)
        return number


class Gradients(Record, frozen=True, kw_only=True):
    """The gradients of a batch, by network."""

    actor: BatchGradient | UnsetType = UNSET
    critic: BatchGradient | UnsetType = UNSET
    total: BatchGradient | UnsetType = UNSET

    def of(self, network: Objective) -> BatchGradient | None:
        """Return the gradient of a network; None if it was not measured."""
        gradient = {"actor": self.actor, "critic": self.critic, "total": self.total}[network]
        return None if gradient is UNSET else gradient


class Units(Record, frozen=True, kw_only=True):
    """What was taken as independent in a batch."""

    count: Size
    steps: Size
    whole: bool
    measured: Size | UnsetType = UNSET


class Minibatch(Record, frozen=True, kw_only=True):
    """How far the policy had moved at one mini-batch."""

    epoch: Count
    ratio_low: NotNegative
    ratio_high: NotNegative
    clip_fraction: Share | None
    approximate_kl: Real
    cosine: Real | None


class ProbedPool(Record, frozen=True, kw_only=True):
    """The policy's gradient beside the true one, in copies of the envs."""

    chains: Size
    steps: Size
    explained_variance: Estimate
    mean_return: Estimate
    layouts: Layouts
    warnings: Texts | UnsetType = UNSET


class ProbeRecord(Record, frozen=True, kw_only=True):
    """record-*.json: one probed update."""

    update: Count
    samples: Count
    mean_return: Real | None
    seconds: NotNegative
    units: Units
    gradients: Gradients
    minibatches: Annotated[tuple[Minibatch, ...], Meta(max_length=LONGEST)] | None
    pool: ProbedPool | None
    warnings: Texts


class ProbeLog(Record, frozen=True, kw_only=True):
    """probes.json: what is known of a training when it starts; a loop written by hand says less."""

    title: Text
    library: Text
    algorithm: Text | UnsetType = UNSET
    env: Text | UnsetType = UNSET
    layout: Layout | UnsetType = UNSET
    settings: dict[Text, Leaf] | UnsetType = UNSET
    parameters: dict[Text, Count] | UnsetType = UNSET
    advantages: Literal["normalised", "raw"] | UnsetType = UNSET
    every: Size | UnsetType = UNSET
    machine: Machine | UnsetType = UNSET
    versions: Names | UnsetType = UNSET


class ProbedTraining(ProbeLog, frozen=True, kw_only=True):
    """A probed training with the records of its updates, in their order."""

    records: tuple[ProbeRecord, ...]

    def __str__(self) -> str:
        count, last = len(self.records), self.records[-1].update if self.records else 0
        probes = "1 probe" if count == 1 else f"{count:,} probes"
        return f"{self.title}: {probes}{f', the last at update {last:,}' if last else ''}"

    def _repr_html_(self) -> str:
        return f"<pre>{escape(str(self))}</pre>"

    @property
    def batch(self) -> int:
        """Return the samples of one update; those last measured if the training does not say."""
        units = self.records[-1].units
        return self.layout.batch if isinstance(self.layout, Layout) else units.count * units.steps
