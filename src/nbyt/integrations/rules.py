"""What to change in a training, told from the training itself: a table of small rules.

A rule reads the evidence and yields a finding, or nothing. It speaks only if the whole 95 %
interval of its number is on the wrong side of its limit, and is silent where the evidence is thin.
How often they are right is counted on trainings with planted faults: `make bench-rules`.
"""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import asdict, dataclass
from math import inf
from typing import Any, Literal

import numpy as np

from nbyt.integrations.evidence import Evidence
from nbyt.results.probes import ProbeRecord
from nbyt.results.values import Estimate as EstimateRecord
from nbyt.stats.estimate import Estimate, mapped, mean

Network = Literal["actor", "critic"]

# Limits, each chosen on trainings other than those that the rules are judged by.
FEW_ENVS = 8  # from so many on, a batch is compared env by env
ALIKE = 0.5  # a sample of the batch is worth less than this share of an independent one
SAME_AGE = 0.5  # pairs of envs that are at the same step of an episode
NO_DIRECTION = 0.3  # cosine of a mini-batch's gradient with the batch's, in the last epoch
HAD_DIRECTION = 0.5  # the same in the first epoch
CLIPPED = 0.3  # share of the last epoch's samples outside the clip range
RAGGED = 0.5  # last mini-batch of an epoch, in mini-batches
FEW_UPDATES = 20
LEAST_AGES = 4  # rollouts in which it is known where envs are in their episodes
EXPLAINED, GAP_CLOSED = 0.1, 0.1  # of a critic that says nothing


@dataclass(frozen=True)
class Recommendation:
    """One thing to change: the rule's name, what was seen, what to do, and the number behind it.

    network: which one it is about; "" for the training as a whole.
    """

    rule: str
    seen: str
    do: str
    number: Estimate
    network: str = ""

    def __str__(self) -> str:
        return f"{self.seen}: {self.do}."

    def as_dict(self) -> dict[str, Any]:
        """Return plain values."""
        return {**asdict(self), "number": self.number.as_dict()}


@dataclass(frozen=True)
class Worth:
    """What a network's batch is worth: its samples in independent ones, and its noise.

    noise_scale: the batch size at which noise and signal are equal.
    """

    network: Network
    samples: Estimate
    noise_scale: Estimate | None

    def __str__(self) -> str:
        said = f"{self.network}: a batch is worth {_count(self.samples)} independent samples"
        if self.noise_scale is None:
            return f"{said}."
        return f"{said}; noise equals signal at {_count(self.noise_scale)} samples."


@dataclass(frozen=True)
class Summary:
    """What a training says of itself; `str()` has it in words."""

    batch: int
    measured: int
    worths: tuple[Worth, ...]
    findings: tuple[Recommendation, ...]

    def __str__(self) -> str:
        head = f"{self.measured} updates measured, {self.batch:,} samples each."
        if not self.worths:
            head += " Too few to say what a batch is worth."
        said = [str(one) for one in self.findings] or ["Nothing to change was found."]
        return "\n".join([head, *map(str, self.worths), *(f"- {one}" for one in said)])

    def as_dict(self) -> dict[str, Any]:
        """Return plain values."""
        return {
            "batch": self.batch,
            "measured": self.measured,
            "worths": [
                {
                    "network": one.network,
                    "samples": one.samples.as_dict(),
                    "noise_scale": one.noise_scale and one.noise_scale.as_dict(),
                }
                for one in self.worths
            ],
            "findings": [one.as_dict() for one in self.findings],
        }


def summarise(evidence: Evidence) -> Summary:
    """Ask every rule."""
    found = tuple(one for rule in RULES.values() for one in rule(evidence))
    names: tuple[Network, ...] = ("actor", "critic")
    worths = tuple(one for name in names if (one := _worth(evidence, name)) is not None)
    return Summary(evidence.batch, len(evidence.records), worths, found)


def _same_starts(evidence: Evidence) -> Iterator[Recommendation]:
    """Envs in step: every batch holds one phase of the episode. Long rollouts hold all phases."""
    late = evidence.late
    if evidence.envs < 4 or not late:
        return
    ends = sum(one.ends for one in late)
    length = inf if not ends else evidence.batch * len(late) / ends
    known = [one.ages for one in late if (one.ages >= 0).all()]
    if len(known) < LEAST_AGES:
        return
    number = same_age(np.stack(known))
    if number.low is not None and number.low > SAME_AGE and evidence.steps < length:
        yield Recommendation(
            "same_starts",
            f"{_percent(number)} of the pairs of envs are at the same step of an episode, and "
            f"{evidence.steps} steps hold only a part of it",
            "stagger the starts",
            number,
        )


def _few_envs(evidence: Evidence) -> Iterator[Recommendation]:
    """Few envs whose steps are alike: more envs raise what the same batch is worth."""
    if evidence.envs >= FEW_ENVS:
        return
    for network in ("critic", "actor"):
        number = _mean([_value(one, network, "ess_ratio") for one in evidence.late_records])
        if number is not None and number.high is not None and number.high < ALIKE:
            have = "1 env" if evidence.envs == 1 else f"{evidence.envs} envs"
            yield Recommendation(
                "few_envs",
                f"with {have} a sample is worth {_percent(number)} of an independent one for the "
                f"{network}",
                "use more envs and shorter rollouts at the same batch, 8 envs or more; longer "
                "rollouts of the same envs add less",
                number,
                network,
            )


def _late_epochs(evidence: Evidence) -> Iterator[Recommendation]:
    """Epochs that no longer follow the gradient that the batch had."""
    first, last = (_of_epoch(evidence, which, "cosine") for which in (0, -1))
    if first is None or last is None or first.low is None or last.high is None:
        return
    if first.low > HAD_DIRECTION and last.high < NO_DIRECTION:
        yield Recommendation(
            "late_epochs",
            f"in the last of {evidence.epochs} epochs a mini-batch's gradient has a cosine of "
            f"{last} with the batch's, {first} in the first",
            "use fewer epochs, or a target_kl",
            last,
        )


def _clipped(evidence: Evidence) -> Iterator[Recommendation]:
    """Updates that go on after most samples have left the clip range."""
    number = _of_epoch(evidence, -1, "clip_fraction")
    if number is not None and number.low is not None and number.low > CLIPPED:
        yield Recommendation(
            "clipped",
            f"{_percent(number)} of the samples are outside the clip range in the last epoch",
            "use fewer epochs, a smaller learning rate or a target_kl",
            number,
        )


def _ragged(evidence: Evidence) -> Iterator[Recommendation]:
    """Report a last mini-batch that is small and still moves the weights as far as a whole one."""
    if evidence.minibatch is None or evidence.minibatch > evidence.batch:
        return
    rest = evidence.batch % evidence.minibatch
    share = rest / evidence.minibatch
    if rest and share < RAGGED:
        yield Recommendation(
            "ragged",
            f"{evidence.batch:,} samples leave a last mini-batch of {rest} beside those of "
            f"{evidence.minibatch}, whose samples count {1 / share:.2g} times as much",
            "use a mini-batch size that divides the batch",
            Estimate(share, share, share, 1),
        )


def _few_updates(evidence: Evidence) -> Iterator[Recommendation]:
    """Report a batch so large that the budget is spent in a few updates."""
    updates = evidence.updates
    if updates is not None and updates < FEW_UPDATES:
        yield Recommendation(
            "few_updates",
            f"the whole training is {updates} update{'s' * (updates != 1)} of {evidence.batch:,} "
            "samples",
            "use a smaller batch (fewer steps, or fewer envs), or a larger budget",
            Estimate(float(updates), float(updates), float(updates), 1),
        )


def _dead_critic(evidence: Evidence) -> Iterator[Recommendation]:
    """Report a critic that neither explains the returns nor moves towards their mean."""
    explained = _mean([one.explained for one in evidence.late])
    closed = _gap_closed(evidence)
    if explained is None or closed is None or explained.high is None or closed.high is None:
        return
    if explained.high < EXPLAINED and closed.high < GAP_CLOSED:
        yield Recommendation(
            "dead_critic",
            f"the critic explains {_percent(explained)} of the returns' variance, and has gone "
            f"{_percent(closed)} of the way to their mean since the first rollout",
            "check that it is trained: value coefficient, learning rate, scale of the rewards",
            explained,
            "critic",
        )


def _gap_closed(evidence: Evidence) -> Estimate | None:
    """Return how far the values went from their first mean to that of the late returns.

    None where that mean is no further away than the returns spread: there was no way to go.
    """
    late = evidence.late
    if not late:
        return None
    first, target = evidence.rollouts[0].value, float(np.mean([one.target for one in late]))
    if abs(target - first) < float(np.mean([one.deviation for one in late])):
        return None
    return _mean([(one.value - first) / (target - first) for one in late])


RULES: dict[str, Callable[[Evidence], Iterator[Recommendation]]] = {
    "same_starts": _same_starts,
    "few_envs": _few_envs,
    "late_epochs": _late_epochs,
    "clipped": _clipped,
    "ragged": _ragged,
    "few_updates": _few_updates,
    "dead_critic": _dead_critic,
}


def same_age(ages: np.ndarray) -> Estimate:
    """Estimate the share of pairs of envs at the same step of an episode; ages: [rollouts, N].

    The interval is from leaving out one env at a time.
    """
    envs = ages.shape[1]
    same = (ages[:, :, None] == ages[:, None, :]).mean(axis=0)
    np.fill_diagonal(same, 0.0)
    total, of_env = same.sum(), same.sum(axis=1)
    value = total / (envs * (envs - 1))
    without = (total - 2 * of_env) / ((envs - 1) * (envs - 2))
    error = float(np.sqrt((envs - 1) / envs * np.sum((without - without.mean()) ** 2)))
    return Estimate(value, max(0.0, value - 2 * error), min(1.0, value + 2 * error), envs)


def _worth(evidence: Evidence, network: Network) -> Worth | None:
    records = evidence.late_records
    ratio = _mean([_value(one, network, "ess_ratio") for one in records])
    if ratio is None:
        return None
    scale = _mean([_value(one, network, "noise_scale") for one in records])
    return Worth(network, mapped(ratio, lambda share: evidence.batch * share), scale)


def _value(record: ProbeRecord, network: Any, quantity: str) -> float | None:
    gradient = record.gradients.of(network)
    number: EstimateRecord | None = None if gradient is None else gradient.of(quantity)
    return None if number is None else number.value


def _of_epoch(evidence: Evidence, which: int, name: str) -> Estimate | None:
    """Return the mean over measured updates of a number of the first or the last epoch."""
    means = []
    for record in evidence.late_records:
        rows = record.minibatches or ()
        epochs = sorted({row.epoch for row in rows})
        if len(epochs) < 2:
            continue
        chosen = [getattr(row, name) for row in rows if row.epoch == epochs[which]]
        known = [value for value in chosen if value is not None]
        means.append(float(np.mean(known)) if known else None)
    return _mean(means)


def _mean(values: Sequence[float | None]) -> Estimate | None:
    """Return the mean of what is known, with its interval; None where that is too little."""
    known = [value for value in values if value is not None and np.isfinite(value)]
    return mean(np.array(known)) if len(known) >= max(3, len(values) / 2) else None


def _count(number: Estimate) -> str:
    value, low, high = ("?" if end is None else f"{max(end, 0):,.0f}" for end in _ends(number))
    return f"{value} [{low}, {high}]"


def _percent(number: Estimate) -> str:
    value, low, high = ("?" if end is None else f"{100 * end:.0f}" for end in _ends(number))
    return f"{value} % [{low}, {high}]"


def _ends(number: Estimate) -> tuple[float | None, float | None, float | None]:
    return number.value, number.low, number.high
