"""From measurements and costs to the data of an advice: all that a page or a reader needs."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from nbyt.advice.costs import Costs
from nbyt.advice.libraries import defaults, settings
from nbyt.advice.rank import Answer, StageEvidence, answer, learning_weights, sample_weights
from nbyt.advice.reasons import advice, current, deciding
from nbyt.advice.request import BOTH, AdviceRequest
from nbyt.advice.stages import DRAWS, Measured
from nbyt.dialects.carrying import NUMBERS, SETTINGS, Carried
from nbyt.results.values import Data
from nbyt.rng import numpy_stream
from nbyt.stats.estimate import Estimate
from nbyt.train.plan import PPOSettings

NO_COSTS = "costs were not measured"


@dataclass(frozen=True)
class AdviceInputs:
    """All that was found out, before it is put into words.

    weigh: "learning" or "samples", how stages count. costs: None where they were not asked for.
    """

    request: AdviceRequest
    measured: Sequence[Measured]
    costs: Costs | None
    weigh: str = "learning"

    def stages(self) -> list[Data]:
        """Each stage's data, with the seconds of its layouts, its weight and its name."""
        seconds = self._seconds()
        weights = self.weights()
        found = []
        for one, weight in zip(self.measured, weights, strict=True):
            layouts = [
                {**layout, "seconds": seconds[layout["steps"]]} for layout in one.data["layouts"]
            ]
            evidence = self.evidence(one, weight)
            target = one.target
            found.append(
                {
                    **one.data,
                    "name": target.name,
                    "updates": target.updates,
                    "samples": target.samples,
                    "trained_with": target.trained_with and list(target.trained_with),
                    "weight": float(weight),
                    "clear": evidence.counts,
                    "layouts": layouts,
                }
            )
        return found

    def weights(self) -> list[float]:
        """How much each stage counts, 1 in all; stages of different trainings count apart."""
        runs: dict[Any, list[int]] = {}
        for place, one in enumerate(self.measured):
            runs.setdefault(one.target.trained_with, []).append(place)
        found = np.zeros(len(self.measured))
        for places in runs.values():
            own = self._weights_of([self.measured[place] for place in places])
            found[places] = own / own.sum() / len(runs)
        return [float(weight) for weight in found]

    def _weights_of(self, run: Sequence[Measured]) -> np.ndarray:
        if all(one.target.areas is not None for one in run):
            return np.array([one.target.areas[self.weigh] for one in run])  # type: ignore[index]
        samples = [one.target.samples for one in run]
        if len(run) == 1 or None in samples or len(set(samples)) < len(samples):
            return np.ones(len(run))
        if self.weigh == "samples":
            return sample_weights(samples)  # type: ignore[arg-type]
        returns = [one.data["mean_return"]["value"] for one in run]
        return learning_weights(samples, returns)  # type: ignore[arg-type]

    def evidence(self, one: Measured, weight: float) -> StageEvidence:
        """What a stage says about the question's objective at the lambda it was trained with."""
        if self.request.objective != BOTH:
            return self._evidence(one, weight, self.request.objective)
        critic = self._evidence(one, weight, "critic")
        return replace(self._evidence(one, weight, "actor"), partner=critic)

    def _evidence(self, one: Measured, weight: float, objective: str) -> StageEvidence:
        data = one.data
        own = {row["steps"]: row for row in data["ranking"][objective]}
        layouts = data["layouts"]
        chains = data["pool"]["chains"]
        return StageEvidence(
            one.target.name,
            weight,
            one.evidence(objective),
            tuple(_estimate(own[row["steps"]]["rho"], chains) for row in layouts),
            tuple(_estimate(row[objective]["alignment"], chains) for row in layouts),
        )

    def for_actor(self) -> "AdviceInputs":
        """The same finding, decided by the actor alone."""
        return replace(self, request=replace(self.request, objective="actor"))

    def answers(self, only: str | None = None) -> tuple[Answer, Answer | None]:
        """The answer per sample, and per second where costs are known.

        only: the name of the one training whose stages count.
        """
        chosen = [
            self.evidence(one, weight)
            for one, weight in zip(self.measured, self.weights(), strict=True)
            if only is None or _training(one) == only
        ]
        layouts, seed = self.request.layouts, self.request.seed
        per_sample = answer(chosen, layouts)
        if self.costs is None:
            return per_sample, None
        seconds = self.costs.redrawn(layouts, DRAWS, numpy_stream(seed, "advise.costs"))
        return per_sample, answer(chosen, layouts, seconds)

    def _seconds(self) -> dict[int, Data]:
        if self.costs is None:
            nothing = {"value": None, "low": None, "high": None, "reason": NO_COSTS}
            return dict.fromkeys(self.request.steps, nothing)
        found = self.costs.seconds(self.request.layouts)
        return {t: one.as_dict() for t, one in zip(self.request.steps, found, strict=True)}


def advice_data(
    finding: AdviceInputs,
    *,
    own: int | None,
    closer: Data,
    per: str = "both",
    carried: Carried | None = None,
    remarks: Sequence[str] = (),
) -> Data:
    """The data of an advice. own: T of the user's layout; closer: looks, by the stage's name.

    carried: the user's settings in their library's words. remarks: warnings about the question.
    """
    request, stages = finding.request, finding.stages()
    stages = [{**stage, "closer": closer.get(stage["name"])} for stage in stages]
    per_sample, per_second = finding.answers()
    alone = finding.for_actor().answers() if request.objective == BOTH else (None, None)
    libraries = defaults(request.layouts)
    samples = sum(stage["pool"]["samples"] for stage in stages)
    given = (stages, libraries, request.shown, samples)
    said = {
        "per_sample": advice(per_sample, *given, alone=alone[0]),
        "per_second": per_second and advice(per_second, *given, timed=True, alone=alone[1]),
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


def deciding_stage(finding: AdviceInputs) -> Measured:
    """The stage that counts most."""
    name = deciding(finding.stages())["name"]
    return next(one for one in finding.measured if one.target.name == name)


def _current(per_sample: Answer, per_second: Answer | None, own: int | None) -> Data | None:
    if own is None:
        return None
    return {
        "per_sample": current(per_sample, own),
        "per_second": None if per_second is None else current(per_second, own),
    }


def _agreement(finding: AdviceInputs) -> Data | None:
    """Whether the advice depends on the layout that the stages were trained with."""
    names = list(dict.fromkeys(_training(one) for one in finding.measured))
    if len(names) < 2:
        return None
    found = {name: finding.answers(only=name)[0] for name in names}
    best = {name: [one.best.envs, one.best.steps] for name, one in found.items()}
    agree = all(
        one.place(other.best.steps).tied for one in found.values() for other in found.values()
    )
    words = "; ".join(f"stages of {name} say {n}x{t}" for name, (n, t) in best.items())
    verdict = "they agree, as far as the data tell" if agree else "the advice depends on it"
    return {
        "agree": agree,
        "best": best,
        "sentence": f"Stages were trained with two layouts; {words}: {verdict}.",
    }


def _training(one: Measured) -> str:
    layout = one.target.trained_with
    return "the stages given" if layout is None else f"{layout[0]}x{layout[1]}"


def _learning(request: AdviceRequest, carried: Carried | None) -> Data:
    """The settings of PPO that a reader needs: the usual three, those they gave, and unusual ones.

    They are those that other libraries have too; what only ours has cannot be pasted.
    """
    own, usual = request.settings.as_dict(), PPOSettings().as_dict()
    given = set() if carried is None else set(carried.values) & set(SETTINGS)
    named = {*NUMBERS, *given}
    names = [*NUMBERS, *(name for name in SETTINGS if name in own), "normalise_advantages"]
    return {name: own[name] for name in names if name in named or own[name] != usual[name]}


def _carried(carried: Carried) -> Data:
    """The user's settings as JSON has them: what was taken over, and what was not."""
    source = carried.source
    return {
        "id": source.dialect.id,
        "library": source.dialect.library,
        "given": {**source.reading.settings.given, **source.reading.settings.ignored},
        "carried": carried.values,
        "not_carried": list(carried.left),
    }


def _schedule(request: AdviceRequest, steps: int, own: int | None) -> Data:
    """Gradient steps of an update, and what keeps them the same when N changes."""
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
    """What was said of the stages, each sentence once."""
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


def _estimate(number: Data, chains: int) -> Estimate:
    found = Estimate(number["value"], number["low"], number["high"], chains)
    return replace(
        found, reason=number.get("reason", ""), approximate=bool(number.get("approximate"))
    )
