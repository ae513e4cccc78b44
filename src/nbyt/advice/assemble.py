"""Put the race, the reference tasks and the measurements together to the data of an advice."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from jaxtyping import Float
from msgspec import UNSET, convert

from nbyt.advice.costs import PARALLEL, UpdateCosts
from nbyt.advice.libraries import settings
from nbyt.advice.race import Evidence
from nbyt.advice.reasons import (
    current_words,
    explanations,
    not_learnt,
    remedies,
    slower_words,
    stagger_words,
    verdict,
)
from nbyt.advice.request import AdviceRequest
from nbyt.advice.stages import Measured
from nbyt.dialects.carrying import NUMBERS, SETTINGS, Carried
from nbyt.dialects.defaults import defaults
from nbyt.prior import Known, Prior
from nbyt.results import plain
from nbyt.results.advice import (
    Answer,
    Current,
    GivenRun,
    Goal,
    LayoutLoss,
    PriorFacts,
    Race,
    StageAdvice,
)
from nbyt.results.prior import TrackRecord
from nbyt.results.values import Data, OfLayout
from nbyt.results.values import Estimate as EstimateRecord
from nbyt.rng import numpy_stream
from nbyt.stats.estimate import LEVEL, Estimate
from nbyt.stats.race import CALIBRATED_FROM, FRACTION, Judged, is_calibrated
from nbyt.training.plan import PPOSettings

_DRAWS = 1000
# Trainings of the race whose record is told where none was held.
_USUAL = 4.0


@dataclass(frozen=True)
class AdviceInputs:
    """All that an advice rests on.

    costs: of updates, where time is compared. evidence: of the race, if one was held. looks: the
    diagnostics of stages, by the stage's name.
    """

    request: AdviceRequest
    prior: Prior
    costs: UpdateCosts | None
    evidence: Evidence | None
    measured: Sequence[Measured]
    looks: Data

    def known(self, goal: Goal) -> Known:
        """Return what the reference tasks say for a goal."""
        costs = self.costs.values if goal == "time" and self.costs is not None else None
        return self.prior.under(self.request.steps, costs, self.request.batch)

    @property
    def judged(self) -> Judged | None:
        """Return what the race says; None without one, or where nothing was learnt."""
        judged = None if self.evidence is None else self.evidence.judged()
        return judged if judged is not None and judged.learnt else None

    @property
    def record(self) -> TrackRecord | None:
        """Return what this rule lost on the proving ground at this cost."""
        request = self.request
        kind = "samples" if request.objective == "samples" or self.costs is None else None
        spent = _USUAL
        if self.evidence is not None:
            given = sum(map(len, self.evidence.given.values()))
            spent = self.evidence.trainings + FRACTION * given
        return self.prior.track_record(kind or self.costs.kind, max(1.0, spent + 0.5))  # type: ignore[union-attr]


def advice_data(
    inputs: AdviceInputs, *, carried: Carried | None = None, remarks: Sequence[str] = ()
) -> Data:
    """Return the data of an advice.

    carried: the user's settings in their library's words. remarks: warnings about the request.
    """
    request, judged = inputs.request, inputs.judged
    best = _best(inputs, request.objective)
    layouts = _layouts(inputs, best)
    stages = _stages(inputs)
    answers: dict[Goal, Answer | None] = {
        "time": None if inputs.costs is None else _answer(inputs, "time", layouts, stages),
        "samples": _answer(inputs, "samples", layouts, stages),
    }
    layout = request.layout(best.steps)
    return {
        "env": request.env.id,
        "batch": request.batch,
        "objective": request.objective,
        "effort": request.effort.name,
        "total": request.total,
        "gamma": request.settings.gamma,
        "lambda": request.settings.lam,
        "lambdas": list(request.lambdas),
        "max_envs": request.max_envs,
        "seed": request.seed,
        "advice": {goal: answer and plain(answer) for goal, answer in answers.items()},
        "safe_range": _safe(inputs, judged),
        "layouts": [plain(one) for one in layouts],
        "race": None if inputs.evidence is None else plain(_race(inputs.evidence, inputs.costs)),
        "prior": plain(_prior(inputs.prior)),
        "track_record": inputs.record and plain(inputs.record),
        "costs_from": inputs.costs and inputs.costs.name,
        "costs": None if inputs.costs is None or not inputs.costs.timed else _timed(inputs.costs),
        "current": _current(inputs, best, layouts),
        "stages": [plain(one) for one in stages],
        "libraries": defaults(request.layouts),
        "settings": settings(layout, _learning(request, carried), carried),
        "current_settings": carried and _carried(carried),
        "schedule": _schedule(request, best.steps),
        "warnings": [*remarks, *_warnings(inputs, stages)],
    }


def _best(inputs: AdviceInputs, goal: Goal) -> OfLayout:
    """Return the layout to use: by the race if it was held for this goal, else the usual one."""
    request, judged = inputs.request, inputs.judged
    known = inputs.known(goal)
    steps = known.constant
    if judged is not None and goal == request.objective:
        steps = known.steps[judged.best]
    return OfLayout(envs=request.batch // steps, steps=steps)


def _answer(
    inputs: AdviceInputs,
    goal: Goal,
    layouts: Sequence[LayoutLoss],
    stages: Sequence[StageAdvice],
) -> Answer:
    raced = inputs.judged is not None and goal == inputs.request.objective
    best = _best(inputs, goal)
    known = inputs.known(goal)
    if raced:
        row = next(one for one in layouts if one.steps == best.steps)
        loss, within = row.loss, row.within_5
        reasons = explanations(stages, best)
    else:
        loss, within = _record(known.expected(best.steps)), None
        reasons = _usual(inputs, goal, known, best)
    reasons += _stagger(inputs, goal, best) or (remedies(stages, best) if raced else [])
    sentence = verdict(goal, best, loss, within, raced=raced)
    evidence = inputs.evidence
    if evidence is not None and inputs.judged is None and goal == inputs.request.objective:
        sentence = not_learnt(best, len(evidence.curves))
    return Answer(
        envs=best.envs,
        steps=best.steps,
        expected_loss=loss,
        p_within_5=within,
        rests_on="race" if raced else "prior",
        sentence=sentence,
        reasons=tuple(reasons),
    )


def _stagger(inputs: AdviceInputs, goal: Goal, best: OfLayout) -> list[str]:
    """Say whether staggered starts would help, unless the training has them."""
    if inputs.request.settings.stagger:
        return []
    kind = "samples" if goal == "samples" or inputs.costs is None else inputs.costs.kind
    return stagger_words(inputs.prior.stagger_gain(kind, best.steps))


def _usual(inputs: AdviceInputs, goal: Goal, known: Known, best: OfLayout) -> list[str]:
    """Say what an answer without a race rests on."""
    tasks = len(known.losses)
    what = "the same samples" if goal == "samples" else "the same time"
    said = [f"For {what} T = {best.steps} lost least on average over {tasks} reference tasks."]
    if goal == "samples":
        said.append("Racing for the fewest samples gained nothing significant on them.")
    elif inputs.evidence is None and inputs.costs is not None:
        said.append(f"Costs: {inputs.costs.in_words}. A race would compare layouts on this env.")
    return said


def _layouts(inputs: AdviceInputs, best: OfLayout) -> list[LayoutLoss]:
    """Return the losses of the layouts in the tried range; of all, without a race."""
    request, judged = inputs.request, inputs.judged
    known = inputs.known(request.objective)
    places = range(len(known.steps)) if judged is None else judged.places
    losses = [known.expected(known.steps[place]) for place in places]
    within: Sequence[float | None] = [None] * len(losses)
    if judged is not None:
        losses = list(judged.losses)
        within = within if judged.within is None else judged.close
    names = _defaults_by_steps(inputs)
    found = [
        _row(inputs, known.steps[place], loss, chance, best, names)
        for place, loss, chance in zip(places, losses, within, strict=True)
    ]
    return sorted(found, key=lambda one: one.steps)


def _row(
    inputs: AdviceInputs,
    steps: int,
    loss: Estimate,
    within: float | None,
    best: OfLayout,
    names: dict[int, list[str]],
) -> LayoutLoss:
    request, costs, evidence = inputs.request, inputs.costs, inputs.evidence
    split = request.batch // steps, steps
    seconds = None
    if costs is not None and costs.timed is not None:
        seconds = _record(costs.timed.seconds([split])[0])
    return LayoutLoss(
        envs=split[0],
        steps=steps,
        loss=_record(loss),
        trainings=0 if evidence is None else sum(cell.steps == steps for cell in evidence.curves),
        within_5=within,
        update_cost=None if costs is None else costs.of(steps) / costs.of(best.steps),
        seconds=seconds,
        defaults_of=tuple(names.get(steps, ())),
    )


def _defaults_by_steps(inputs: AdviceInputs) -> dict[int, list[str]]:
    found: dict[int, list[str]] = {}
    for row in defaults(inputs.request.layouts):
        names = found.setdefault(row["placed_at"][1], [])
        if row["library"] not in names:
            names.append(row["library"])
    return found


def _safe(inputs: AdviceInputs, judged: Judged | None) -> list[list[int]]:
    if judged is None or judged.within is None:
        return []
    steps = inputs.known(inputs.request.objective).steps
    return [[inputs.request.batch // steps[place], steps[place]] for place in judged.safe]


def _race(evidence: Evidence, costs: UpdateCosts | None) -> Race:
    seconds = costs is not None and costs.timed is not None
    return Race(
        fraction=FRACTION,
        untrained=evidence.start,
        learnt=evidence.judged().learnt,
        unit_seconds=evidence.race.budget if seconds else None,
        arms=tuple(evidence.arms()),
        given=tuple(
            GivenRun(path=str(run.path), holds=run.holds, trainings=len(cells))
            for run, cells in evidence.given.items()
        )
        or UNSET,
    )


def _prior(prior: Prior) -> PriorFacts:
    return PriorFacts(version=prior.version, sha256=prior.sha256, tasks=len(prior.tasks))


def _timed(costs: UpdateCosts) -> Data | None:
    return None if costs.timed is None else costs.timed.as_dict()


def _stages(inputs: AdviceInputs) -> list[StageAdvice]:
    """Return each stage's measurement with its name and diagnostics."""
    request, found = inputs.request, []
    for each in inputs.measured:
        stage = each.stage
        data = plain(each.record)
        if inputs.costs is not None and inputs.costs.timed is not None:
            seconds = inputs.costs.timed.seconds(request.layouts)
            by_steps = dict(zip(request.steps, seconds, strict=True))
            rows = data["layouts"]
            data["layouts"] = [{**row, "seconds": by_steps[row["steps"]].as_dict()} for row in rows]
        data |= {
            "name": stage.name,
            "updates": stage.updates,
            "samples": stage.samples,
            "trained_with": stage.trained_with,
            "closer": inputs.looks.get(stage.name),
        }
        found.append(convert(data, StageAdvice))
    return found


def _current(inputs: AdviceInputs, best: OfLayout, layouts: Sequence[LayoutLoss]) -> Data | None:
    request = inputs.request
    if request.own is None:
        return None
    row = next((one for one in layouts if one.steps == request.own), None)
    own = OfLayout(envs=request.batch // request.own, steps=request.own)
    loss = None if row is None else row.loss
    found = Current(
        envs=own.envs,
        steps=own.steps,
        loss=loss,
        speedup=None,
        sentence=current_words(own, best, loss),
    )
    ratio = _speedup(inputs, own.steps, best.steps)
    if ratio is None:
        return plain(found)
    said = slower_words(found, best, ratio)
    return {**plain(found), "speedup": plain(ratio), "sentence": said}


def _speedup(inputs: AdviceInputs, own: int, best: int) -> EstimateRecord | None:
    """Return how many times as long the own layout takes to reach the same return.

    None where one of them was not in the race, or where the interval does not say that it is
    longer.
    """
    evidence = inputs.evidence
    if evidence is None or inputs.judged is None or own == best:
        return None
    if own not in evidence.tried or best not in evidence.tried:
        return None
    slow, fast = evidence.moments(own), evidence.moments(best)
    generator = numpy_stream(inputs.request.seed, "advise.speedup")
    if min(len(slow), len(fast)) < 2:
        return None
    drawn = [
        _times_as_long(_redrawn(slow, generator), _redrawn(fast, generator)) for _ in range(_DRAWS)
    ]
    low, high = np.quantile(drawn, [(1 - LEVEL) / 2, (1 + LEVEL) / 2])
    value = _times_as_long(slow.mean(0), fast.mean(0))
    if low <= 1 or not low <= value <= high:
        return None
    return EstimateRecord(value=value, low=float(low), high=float(high), approximate=True)


def _redrawn(curves: Float[np.ndarray, "seeds moments"], generator: np.random.Generator) -> Any:
    return curves[generator.integers(len(curves), size=len(curves))].mean(0)


def _times_as_long(
    slow: Float[np.ndarray, " moments"], fast: Float[np.ndarray, " moments"]
) -> float:
    """Return the time of the slow curve over that in which the fast one gets where it ends."""
    reached = np.flatnonzero(fast >= slow[-1])
    if not len(reached):
        return 1.0
    k = int(reached[0])
    if k == 0:
        return float(len(fast) - 1)
    part = (slow[-1] - fast[k - 1]) / (fast[k] - fast[k - 1])
    return float((len(fast) - 1) / max(k - 1 + part, 1.0))


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


def _schedule(request: AdviceRequest, steps: int) -> Data:
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
        "current": None if request.own is None else request.layout(request.own).as_dict(),
        "sentence": words,
    }


def _warnings(inputs: AdviceInputs, stages: Sequence[StageAdvice]) -> list[str]:
    """Return the warnings about the race and the stages, each once."""
    evidence = inputs.evidence
    found = [] if evidence is None else list(evidence.left_out)
    if evidence is not None and evidence.interrupted:
        every = len(evidence.race.seeds) * len(evidence.race.schedule.arms)
        found.append(
            f"interrupted: the answer rests on {len(evidence.own)} of {every} quarter "
            "trainings; the same command goes on"
        )
    if evidence is not None and not is_calibrated(FRACTION * len(evidence.curves)):
        found.append(
            f"fewer than {CALIBRATED_FROM} trainings: no probability is stated, because on the "
            "proving ground it did not come true at that cost"
        )
    elif evidence is not None and evidence.race.costs.kind != PARALLEL:
        found.append(
            "no probability is stated where updates cost about the same for every T: on the "
            "proving ground it did not come true for the same samples"
        )
    for stage in stages:
        left_out = (stage.closer.left_out if stage.closer else ()) or ()
        found += [f"{stage.name}: {one}" for one in (*stage.warnings, *left_out)]
    return list(dict.fromkeys(found))


def _record(estimate: Estimate) -> EstimateRecord:
    return convert(estimate.as_dict(), EstimateRecord)
