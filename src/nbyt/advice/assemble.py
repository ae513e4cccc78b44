"""Put measurements and costs together to the data of an advice."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np

from nbyt.train.costs import Costs
from nbyt.advice.libraries import defaults, settings
from nbyt.advice.rank import Answer, StageEvidence, answer, learning_weights, sample_weights
from nbyt.advice.reasons import advice, current
from nbyt.advice.request import BOTH, AdviceRequest
from nbyt.advice.stages import DRAWS, Measured
from nbyt.dialects.carrying import NUMBERS, SETTINGS, Carried
from nbyt.results import plain
from nbyt.results.values import Data
from nbyt.results.values import Estimate as EstimateRecord
from nbyt.rng import numpy_stream
from nbyt.stats.estimate import Estimate, undetermined
from nbyt.train.plan import PPOSettings

NO_COSTS = "costs were not measured"


@dataclass(frozen=True)
class AdviceInputs:
    """All measurements of an advice.

    weigh: "learning" or "samples", how stages are weighed. costs: None where not asked for.
    """

    request: AdviceRequest
    measured: Sequence[Measured]
    costs: Costs | None
    weigh: str = "learning"

    def stages(self) -> list[Data]:
        """Return each stage's data, with the seconds of its layouts, its weight and its name."""
        seconds = self._seconds()
        return [
            {
                **(data := plain(each.record)),
                "name": each.stage.name,
                "updates": each.stage.updates,
                "samples": each.stage.samples,
                "trained_with": each.stage.trained_with and list(each.stage.trained_with),
                "weight": evidence.weight,
                "clear": evidence.counts,
                "layouts": [
                    {**layout, "seconds": seconds[layout["steps"]]} for layout in data["layouts"]
                ],
            }
            for each, evidence in zip(self.measured, self.evidence, strict=True)
        ]

    def weights(self) -> list[float]:
        """Return each stage's weight, 1 in all; trainings have equal weights."""
        runs: dict[Any, list[int]] = {}
        for place, each in enumerate(self.measured):
            runs.setdefault(each.stage.trained_with, []).append(place)
        weights = np.zeros(len(self.measured))
        for places in runs.values():
            areas = self._areas([self.measured[place] for place in places])
            weights[places] = areas / areas.sum() / len(runs)
        return [float(weight) for weight in weights]

    def _areas(self, run: Sequence[Measured]) -> np.ndarray:
        if all(each.stage.areas is not None for each in run):
            return np.array([each.stage.areas[self.weigh] for each in run])  # type: ignore[index]
        samples = [each.stage.samples for each in run]
        if len(run) == 1 or None in samples or len(set(samples)) < len(samples):
            return np.ones(len(run))
        if self.weigh == "samples":
            return sample_weights(samples)  # type: ignore[arg-type]
        returns = [each.record.mean_return.value for each in run]
        return learning_weights(samples, returns)  # type: ignore[arg-type]

    @cached_property
    def evidence(self) -> list[StageEvidence]:
        """Return what each stage says about the objective, at the lambda of its training."""
        both, objective = self.request.objective == BOTH, self.request.shown
        return [
            replace(
                _evidence(each, weight, objective),
                partner=_evidence(each, weight, "critic") if both else None,
            )
            for each, weight in zip(self.measured, self.weights(), strict=True)
        ]

    def deciding(self) -> Measured:
        """Return the stage with the largest weight, of those that are clear."""
        pairs = list(zip(self.evidence, self.measured, strict=True))
        clear = [pair for pair in pairs if pair[0].counts] or pairs
        return max(clear, key=lambda pair: pair[0].weight)[1]

    def for_actor(self) -> "AdviceInputs":
        """Return the same measurements, decided by the actor alone."""
        return replace(self, request=replace(self.request, objective="actor"))

    def answers(self, only: str | None = None) -> tuple[Answer, Answer | None]:
        """Return the answer per sample, and per second where costs are known.

        only: the name of the one training whose stages count.
        """
        evidence = [
            evidence
            for each, evidence in zip(self.measured, self.evidence, strict=True)
            if only is None or _training(each) == only
        ]
        layouts, seed = self.request.layouts, self.request.seed
        per_sample = answer(evidence, layouts)
        if self.costs is None:
            return per_sample, None
        seconds = self.costs.redrawn(layouts, DRAWS, numpy_stream(seed, "advise.costs"))
        return per_sample, answer(evidence, layouts, seconds)

    def _seconds(self) -> dict[int, Data]:
        if self.costs is None:
            return dict.fromkeys(self.request.steps, undetermined(NO_COSTS, 0).as_dict())
        seconds = self.costs.seconds(self.request.layouts)
        return {t: each.as_dict() for t, each in zip(self.request.steps, seconds, strict=True)}


def _evidence(measured: Measured, weight: float, objective: str) -> StageEvidence:
    record, chains = measured.record, measured.record.pool.chains
    rho = {row.steps: row.rho for row in getattr(record.ranking, objective)}
    return StageEvidence(
        measured.stage.name,
        weight,
        measured.evidence(objective),
        tuple(_estimate(rho[layout.steps], chains) for layout in record.layouts),
        tuple(_estimate(getattr(layout, objective).alignment, chains) for layout in record.layouts),
    )


def _estimate(number: EstimateRecord, chains: int) -> Estimate:
    reason = number.reason if isinstance(number.reason, str) else ""
    approximate = number.approximate is True
    return Estimate(number.value, number.low, number.high, chains, reason, approximate)


def advice_data(
    finding: AdviceInputs,
    *,
    own: int | None,
    closer: Data,
    per: str = "both",
    carried: Carried | None = None,
    remarks: Sequence[str] = (),
) -> Data:
    """Return the data of an advice.

    own: T of the user's layout. closer: diagnostics by the stage's name. carried: the user's
    settings in their library's words. remarks: warnings about the request.
    """
    request, stages = finding.request, finding.stages()
    stages = [{**stage, "closer": closer.get(stage["name"])} for stage in stages]
    per_sample, per_second = finding.answers()
    alone = finding.for_actor().answers() if request.objective == BOTH else (None, None)
    libraries = defaults(request.layouts)
    stage = stages[finding.measured.index(finding.deciding())]
    facts = (stages, stage, libraries, request.shown)
    said = {
        "per_sample": advice(per_sample, *facts, alone=alone[0]),
        "per_second": per_second and advice(per_second, *facts, timed=True, alone=alone[1]),
    }
    main = per_second if per == "second" and per_second is not None else per_sample
    layout = request.layout(main.best.steps)
    return {
        "env": request.env.id,
        "batch": request.batch,
        "objective": request.shown,
        "decided_by": request.objective,
        "effort": request.effort.name,
        "per": per,
        "gamma": stages[0]["gamma"],
        "lambda": stages[0]["lambda"],
        "lambdas": list(request.lambdas),
        "advantages": stages[0]["advantages"],
        "max_envs": request.max_envs,
        "seed": request.seed,
        "weigh": finding.weigh,
        "stages": stages,
        "costs": None if finding.costs is None else finding.costs.as_dict(),
        "advice": said,
        "current": _current(per_sample, per_second, own),
        "agreement": _agreement(finding),
        "libraries": libraries,
        "settings": settings(layout, _learning(request, carried), carried),
        "current_settings": carried and _carried(carried),
        "schedule": _schedule(request, layout.steps, own),
        "training": _training_facts(request),
        "warnings": [*remarks, *_warnings(stages)],
    }


def _current(per_sample: Answer, per_second: Answer | None, own: int | None) -> Data | None:
    if own is None:
        return None
    return {
        "per_sample": current(per_sample, own),
        "per_second": None if per_second is None else current(per_second, own),
    }


def _agreement(finding: AdviceInputs) -> Data | None:
    """Say whether the advice depends on the layout that the stages were trained with."""
    names = list(dict.fromkeys(map(_training, finding.measured)))
    if len(names) < 2:
        return None
    answers = {name: finding.answers(only=name)[0] for name in names}
    best = {name: [each.best.envs, each.best.steps] for name, each in answers.items()}
    agree = all(
        each.place(other.best.steps).tied for each in answers.values() for other in answers.values()
    )
    words = "; ".join(f"stages of {name} say {n}x{t}" for name, (n, t) in best.items())
    verdict = "they agree, as far as the data tell" if agree else "the advice depends on it"
    return {
        "agree": agree,
        "best": best,
        "sentence": f"Stages were trained with two layouts; {words}: {verdict}.",
    }


def _training(measured: Measured) -> str:
    layout = measured.stage.trained_with
    return "the stages given" if layout is None else f"{layout[0]}x{layout[1]}"


def _learning(request: AdviceRequest, carried: Carried | None) -> Data:
    """Return the settings of PPO to paste: the usual three, those given, and those changed.

    What only nbyt has cannot be pasted, and is left out.
    """
    own, usual = request.settings.as_dict(), PPOSettings().as_dict()
    named = set() if carried is None else set(carried.values) & set(SETTINGS)
    named |= {*NUMBERS}
    names = [*NUMBERS, *(name for name in SETTINGS if name in own), "normalise_advantages"]
    return {name: own[name] for name in names if name in named or own[name] != usual[name]}


def _carried(carried: Carried) -> Data:
    """Return the user's settings: what was taken over, and what was not."""
    source = carried.source
    return {
        "id": source.dialect.id,
        "library": source.dialect.library,
        "given": {**source.reading.settings.given, **source.reading.settings.ignored},
        "carried": carried.values,
        "not_carried": list(carried.left),
    }


def _schedule(request: AdviceRequest, steps: int, own: int | None) -> Data:
    """Return the gradient steps of an update, and how to keep them when N changes."""
    layout = request.layout(steps)
    words = (
        f"Keep the mini-batch at {layout.minibatch} and the learning rate at "
        f"{request.settings.learning_rate:g}: an update then makes {layout.minibatches} "
        f"mini-batches x {layout.epochs} epochs = {layout.gradient_steps} gradient steps. With "
        "more envs and the same T the number of mini-batches grows; the size of one does not."
    )
    return {
        **layout.as_dict(),
        "gradient_steps": layout.gradient_steps,
        "learning_rate": request.settings.learning_rate,
        "current": None if own is None else request.layout(own).as_dict(),
        "sentence": words,
    }


def _warnings(stages: Sequence[Data]) -> list[str]:
    """Return the warnings about the stages, each once."""
    found: dict[str, list[str]] = {}
    for stage in stages:
        left_out = (stage["closer"] or {}).get("left_out", [])
        for sentence in (*stage["warnings"], *left_out):
            found.setdefault(sentence, []).append(stage["name"])
    return [
        sentence if len(names) == len(stages) else f"{', '.join(names)}: {sentence}"
        for sentence, names in found.items()
    ]


def _training_facts(request: AdviceRequest) -> list[Data]:
    return [
        {**request.layout(steps).as_dict(), "total": request.total} for steps in request.trained
    ]
