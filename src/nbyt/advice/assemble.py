"""Put the race, the reference tasks and the measurements together to the record of an advice."""

import platform
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from msgspec import UNSET, convert, structs

from nbyt.advice.costs import PARALLEL, UpdateCosts
from nbyt.advice.libraries import settings
from nbyt.advice.race import Evidence
from nbyt.advice.reasons import (
    current_words,
    explanations,
    interrupted_words,
    not_learnt,
    remedies,
    schedule_words,
    slower_words,
    stagger_words,
    uncalibrated_words,
    usual_words,
    verdict,
)
from nbyt.advice.request import AdviceRequest
from nbyt.advice.stages import Measured
from nbyt.dialects.carrying import NUMBERS, SETTINGS, Carried
from nbyt.dialects.defaults import defaults
from nbyt.layout import Layout
from nbyt.results.advice import (
    Advice,
    Answer,
    Answers,
    Cost,
    Current,
    CurrentSettings,
    GivenRun,
    Goal,
    LayoutLoss,
    Library,
    Race,
    Schedule,
    StageAdvice,
)
from nbyt.results.measurement import Look, Measurement
from nbyt.results.prior import TrackRecord
from nbyt.results.values import Data, Machine, OfLayout, Splits
from nbyt.results.values import Estimate as EstimateRecord
from nbyt.results.values import Layout as LayoutRecord
from nbyt.rng import numpy_stream
from nbyt.stats.estimate import Estimate
from nbyt.stats.prior import Known, Prior
from nbyt.stats.race import FRACTION, Judged, has_gained, times_as_long
from nbyt.store.files import PAGE
from nbyt.store.manifest import versions
from nbyt.training import hardware
from nbyt.training.plan import PPOSettings

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
    looks: Mapping[str, Look]

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
    def _guessed(self) -> Judged | None:
        """Return what the race says, also where it is a guess; None if no T gained anything."""
        evidence = self.evidence
        return evidence.judged() if evidence is not None and has_gained(evidence.gains) else None

    def best(self, goal: Goal) -> OfLayout:
        """Return the layout to use: by the race if there was one for this goal, else the usual."""
        known = self.known(goal)
        judged = self._guessed if goal == self.request.objective else None
        steps = known.constant if judged is None else known.steps[judged.best]
        return OfLayout(envs=self.request.batch // steps, steps=steps)

    @property
    def track_record(self) -> TrackRecord | None:
        """Return what this rule lost on the proving ground at this cost."""
        request = self.request
        kind = "samples" if request.objective == "samples" or self.costs is None else None
        spent = _USUAL
        if self.evidence is not None:
            given = sum(map(len, self.evidence.given.values()))
            spent = self.evidence.trainings + FRACTION * given
        return self.prior.track_record(kind or self.costs.kind, max(1.0, spent + 0.5))  # type: ignore[union-attr]


@dataclass(frozen=True)
class Provenance:
    """How an advice was made: what it cost, the call that asks the same, and its folder."""

    cost: Cost
    reproduce: str
    out: Path


def advice_record(
    inputs: AdviceInputs,
    made: Provenance,
    *,
    carried: Carried | None = None,
    remarks: Sequence[str] = (),
) -> Advice:
    """Return everything that an advice says.

    carried: the user's settings in their library's words. remarks: warnings about the request.
    """
    request, costs, evidence = inputs.request, inputs.costs, inputs.evidence
    best = inputs.best(request.objective)
    libraries = convert(defaults(request.layouts), tuple[Library, ...])
    layouts, stages = _layouts(inputs, best, libraries), _stages(inputs)
    layout = request.layout(best.steps)
    return Advice(
        env=request.env.id,
        batch=request.batch,
        objective=request.objective,
        effort=request.effort.name,
        total=request.total,
        gamma=request.settings.gamma,
        lam=request.settings.lam,
        lambdas=request.lambdas,
        max_envs=request.max_envs,
        seed=request.seed,
        advice=Answers(
            time=None if costs is None else _answer(inputs, "time", layouts, stages),
            samples=_answer(inputs, "samples", layouts, stages),
        ),
        safe_range=_safe(inputs),
        layouts=tuple(layouts),
        race=None if evidence is None else _race(evidence, costs),
        prior=inputs.prior.facts,
        track_record=inputs.track_record,
        costs_from=None if costs is None else costs.name,
        costs=None if costs is None or costs.timed is None else costs.timed.record,
        current=_current(inputs, best, layouts),
        stages=tuple(stages),
        libraries=libraries,
        settings=tuple(settings(layout, _learning(request, carried), carried)),
        current_settings=None if carried is None else _carried(carried),
        schedule=_schedule(request, layout),
        warnings=(*remarks, *_warnings(inputs, stages)),
        cost=made.cost,
        machine=Machine(device=hardware.describe(), platform=platform.platform()),
        versions=versions(),
        reproduce=made.reproduce,
        out=str(made.out),
        report=str(made.out / PAGE.name),
    )


def _answer(
    inputs: AdviceInputs,
    goal: Goal,
    layouts: Sequence[LayoutLoss],
    stages: Sequence[StageAdvice],
) -> Answer:
    raced = inputs.judged is not None and goal == inputs.request.objective
    best, known = inputs.best(goal), inputs.known(goal)
    guessed = inputs.evidence is not None and not raced and goal == inputs.request.objective
    if raced:
        row = next(one for one in layouts if one.steps == best.steps)
        loss, within = row.loss, row.within_5
        reasons = explanations(stages, best)
    else:
        loss, within = known.expected(best.steps).record, None
        costs = inputs.costs if inputs.evidence is None else None
        words = None if costs is None else costs.in_words
        usual = best.steps == known.constant
        reasons = usual_words(goal, best, len(known.losses), words) if usual else []
    reasons += _stagger(inputs, goal, best) or (remedies(stages, best) if raced else [])
    sentence = verdict(goal, best, loss, within, raced=raced)
    if guessed and inputs.evidence is not None:
        count = len(inputs.evidence.curves)
        sentence = not_learnt(best, count, usual=best.steps == known.constant)
    return Answer(
        envs=best.envs,
        steps=best.steps,
        expected_loss=loss,
        p_within_5=within,
        rests_on="race" if raced or best.steps != known.constant else "prior",
        sentence=sentence,
        reasons=tuple(reasons),
    )


def _stagger(inputs: AdviceInputs, goal: Goal, best: OfLayout) -> list[str]:
    """Say whether staggered starts would help, unless the training has them."""
    if inputs.request.settings.stagger:
        return []
    kind = "samples" if goal == "samples" or inputs.costs is None else inputs.costs.kind
    return stagger_words(inputs.prior.stagger_gain(kind, best.steps))


def _layouts(
    inputs: AdviceInputs, best: OfLayout, libraries: Sequence[Library]
) -> list[LayoutLoss]:
    """Return the losses of the layouts in the tried range; of all, without a race."""
    request, judged = inputs.request, inputs.judged
    known = inputs.known(request.objective)
    places = range(len(known.steps)) if judged is None else judged.places
    losses = [known.expected(known.steps[place]) for place in places]
    within: Sequence[float | None] = [None] * len(losses)
    if judged is not None:
        losses = list(judged.losses)
        within = within if judged.within is None else judged.close
    rows = [
        _row(inputs, known.steps[place], loss, chance, best, libraries)
        for place, loss, chance in zip(places, losses, within, strict=True)
    ]
    return sorted(rows, key=lambda one: one.steps)


def _row(
    inputs: AdviceInputs,
    steps: int,
    loss: Estimate,
    within: float | None,
    best: OfLayout,
    libraries: Sequence[Library],
) -> LayoutLoss:
    request, costs, evidence = inputs.request, inputs.costs, inputs.evidence
    split = request.batch // steps, steps
    timed = None if costs is None else costs.timed
    names = [one.library for one in libraries if one.placed_at[1] == steps]
    return LayoutLoss(
        envs=split[0],
        steps=steps,
        loss=loss.record,
        trainings=0 if evidence is None else sum(cell.steps == steps for cell in evidence.curves),
        within_5=within,
        update_cost=None if costs is None else costs.of(steps) / costs.of(best.steps),
        seconds=None if timed is None else timed.seconds([split])[0].record,
        defaults_of=tuple(dict.fromkeys(names)),
    )


def _safe(inputs: AdviceInputs) -> Splits:
    request, judged = inputs.request, inputs.judged
    if judged is None or judged.within is None:
        return ()
    steps = inputs.known(request.objective).steps
    return tuple((request.batch // steps[place], steps[place]) for place in judged.safe)


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


def _stages(inputs: AdviceInputs) -> list[StageAdvice]:
    """Return each stage's measurement with its name and diagnostics."""
    return [
        StageAdvice(
            **structs.asdict(_with_seconds(inputs, each)),
            name=each.stage.name,
            updates=each.stage.updates,
            samples=each.stage.samples,
            trained_with=each.stage.trained_with,
            closer=inputs.looks.get(each.stage.name),
        )
        for each in inputs.measured
    ]


def _with_seconds(inputs: AdviceInputs, measured: Measured) -> Measurement:
    """Return a measurement with the seconds of updates as they were timed, where they were."""
    record, request = measured.record, inputs.request
    if inputs.costs is None or inputs.costs.timed is None:
        return record
    seconds = inputs.costs.timed.seconds(request.layouts)
    by_steps = dict(zip(request.steps, seconds, strict=True))
    return structs.replace(
        record,
        layouts=tuple(
            structs.replace(row, seconds=by_steps[row.steps].record) for row in record.layouts
        ),
    )


def _current(inputs: AdviceInputs, best: OfLayout, layouts: Sequence[LayoutLoss]) -> Current | None:
    request = inputs.request
    if request.own is None:
        return None
    own = OfLayout(envs=request.batch // request.own, steps=request.own)
    loss = next((one.loss for one in layouts if one.steps == own.steps), None)
    said, speedup = current_words(own, best, loss), _speedup(inputs, own.steps, best.steps)
    if speedup is not None:
        said = f"{said} {slower_words(best, speedup)}"
    return Current(envs=own.envs, steps=own.steps, loss=loss, speedup=speedup, sentence=said)


def _speedup(inputs: AdviceInputs, own: int, best: int) -> EstimateRecord | None:
    """Return how many times as long the user's layout takes to reach the same return.

    None where one of them was not in the race, or where it is not clearly longer.
    """
    evidence = inputs.evidence
    if evidence is None or inputs.judged is None or own == best:
        return None
    if not {own, best} <= set(evidence.tried):
        return None
    generator = numpy_stream(inputs.request.seed, "advise.speedup")
    times = times_as_long(evidence.moments(own), evidence.moments(best), generator)
    return None if times is None else times.record


def _learning(request: AdviceRequest, carried: Carried | None) -> Data:
    """Return the settings of PPO to paste: the usual three, those given, and those changed.

    What only nbyt has cannot be pasted, and is left out.
    """
    own, usual = request.settings.as_dict(), PPOSettings().as_dict()
    named = set() if carried is None else set(carried.values) & set(SETTINGS)
    named |= {*NUMBERS}
    names = [*NUMBERS, *(name for name in SETTINGS if name in own), "normalise_advantages"]
    return {name: own[name] for name in names if name in named or own[name] != usual[name]}


def _carried(carried: Carried) -> CurrentSettings:
    """Return the user's settings: what was taken over, and what was not."""
    source = carried.source
    return CurrentSettings(
        id=source.dialect.id,
        library=source.dialect.library,
        given={**source.reading.settings.given, **source.reading.settings.ignored},
        carried=carried.values,
        not_carried=tuple(carried.left),
    )


def _schedule(request: AdviceRequest, layout: Layout) -> Schedule:
    """Return the gradient steps of an update, and how to keep them when N changes."""
    rate, own = request.settings.learning_rate, request.own
    return Schedule(
        **layout.as_dict(),
        gradient_steps=layout.gradient_steps,
        learning_rate=rate,
        current=None if own is None else LayoutRecord(**request.layout(own).as_dict()),
        sentence=schedule_words(layout, rate),
    )


def _warnings(inputs: AdviceInputs, stages: Sequence[StageAdvice]) -> list[str]:
    """Return the warnings about the race and the stages, each once."""
    evidence, said = inputs.evidence, []
    if evidence is not None:
        said += evidence.left_out
        if evidence.interrupted:
            planned = len(evidence.race.seeds) * len(evidence.race.schedule.arms)
            said.append(interrupted_words(len(evidence.own), planned))
        parallel = evidence.race.costs.kind == PARALLEL
        why = uncalibrated_words(FRACTION * len(evidence.curves), parallel=parallel)
        said += [why] if why else []
    for stage in stages:
        left_out = (stage.closer.left_out if stage.closer else ()) or ()
        said += [f"{stage.name}: {one}" for one in (*stage.warnings, *left_out)]
    return list(dict.fromkeys(said))
