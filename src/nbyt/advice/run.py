"""nbyt.advise: race a few layouts and say which to use; every part is saved when it is done."""

import contextlib
import shlex
import time
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from nbyt.advice.assemble import AdviceInputs, Provenance, advice_record
from nbyt.advice.costs import UpdateCosts, known_costs
from nbyt.advice.estimate import make_race, startable
from nbyt.advice.given import OwnRun, own_runs, sources_of
from nbyt.advice.race import Evidence, Race, Watch, hold_race
from nbyt.advice.request import BATCH, OVERALL, AdviceRequest, make_advice_request
from nbyt.advice.request import effort as effort_named
from nbyt.advice.result import Advice
from nbyt.advice.stages import (
    StageToMeasure,
    collected_by,
    given_stages,
    measured_samples,
    open_folder,
    stages_like,
)
from nbyt.collect import Progress
from nbyt.dialects.carrying import Carried
from nbyt.envs import HostEnv, resolve
from nbyt.envs.protocol import usual_envs
from nbyt.errors import StoreError, UsageError
from nbyt.measure.frozen_policy import Collector
from nbyt.numbers import SIZE, SPLIT, require
from nbyt.policy.actor_critic import Stage
from nbyt.results.advice import Cost
from nbyt.stats.prior import load_prior
from nbyt.stats.race import FRACTION
from nbyt.store.files import ADVICE, COSTS, LOOK, PAGE
from nbyt.store.paths import at_work
from nbyt.store.run import Folder
from nbyt.sweeps.cells import Runner, usual_runner
from nbyt.training.costs import costs_from, measure_costs
from nbyt.training.plan import EPOCHS, HOST_ENVS, PPOSettings


def advise(
    env: Any,
    *,
    batch: int = BATCH,
    objective: str = "time",
    trainings: float | None = None,
    costs: str | None = None,
    total: int | None = None,
    current: tuple[int, int] | None = None,
    effort: str = "normal",
    steps: Sequence[int] = (),
    lambdas: Sequence[float] | None = None,
    stages: int | None = None,
    stages_from: Sequence[Stage | Path | str] = (),
    runs: Sequence[Path | str] = (),
    minibatch: int | None = None,
    epochs: int = EPOCHS,
    settings: PPOSettings | None = None,
    max_envs: int | None = None,
    vector: str = "sync",
    memory: int = 2**30,
    seed: int = 0,
    out: Path | str | None = None,
    force: bool = False,
    runner: Runner | None = None,
    progress: Progress = lambda what, done, total: None,
) -> Advice:
    """Advise on how many envs N and rollout steps T to split a batch into.

    Races quarter trainings of a few layouts N x T with the same seeds, and says which reaches the
    highest return for the same time, or for the same samples.

    Parameters
    ----------
    env
        A name such as "CartPole-v1" or "gym:Ant-v5", or a function that makes an env.
    batch
        Samples of a batch, N x T.
    objective
        What is compared: the return for the same "time" or for the same "samples".
    trainings
        What the race may cost, in whole trainings; 4 by default for time, 0 for samples. Without a
        race the answer is the usual layout, and what it lost on the reference tasks.
    costs
        What an update costs: "measured" here, as on "parallel" hardware ("parallel:16" is T + 16
        vector steps whatever N is), or a file of `nbyt time`.
    total
        Env steps of the training that the advice is for.
    current
        Your own (envs, steps), to learn whether a change is worth it.
    effort
        "quick", "normal" or "thorough": how many trainings, and how much is measured to explain.
    steps
        The T to compare; the divisors of the batch by default.
    lambdas
        Lambdas of GAE; the first is trained with, the others are measured where effort allows.
    stages, stages_from
        How many frozen policies are measured to explain the answer, or which.
    runs
        Folders of finished trainings, sweeps or advices of the same env, batch and settings, which
        count as trainings of the race. Stages that they hold are measured.
    minibatch, epochs, settings
        How PPO learns.
    max_envs
        The most envs that a layout may have; 64 for host envs by default.
    vector
        Host envs in this process ("sync"), or in a process each ("async").
    memory
        Bytes that measuring may use.
    seed
        Seed of all randomness.
    out, force
        Folder of the advice, which the same call goes on with; True to clear another advice there.
    runner
        What trains. By default this process, or worker processes for a host env given by name.
    progress
        Called with the name of a part, how much of it is done, and its total.

    Returns
    -------
    Advice
        The layout to use, how sure that is, why, and what it rests on.

    Examples
    --------
    >>> import tempfile
    >>> import nbyt
    >>> with tempfile.TemporaryDirectory() as out:
    ...     small = {"steps": [4, 16], "trainings": 1, "total": 1280, "stages": 1, "out": out}
    ...     advice = nbyt.advise("FrozenLake-v1", batch=64, costs="parallel", **small)
    >>> advice.time.envs * advice.time.steps
    64
    >>> advice.cost.trainings
    1.0
    """
    found = resolve(env)
    evidence, held = own_runs(runs)
    given = given_stages([*stages_from, *held], found) if stages_from or held else []
    (current,), _ = require(SPLIT, current=current), require(SIZE, max_envs=max_envs)
    if isinstance(found, HostEnv):
        size = SIZE.check(batch, "batch")
        wanted = max_envs or usual_envs(found, size, HOST_ENVS)
        max_envs = startable(found, wanted, vector, batch=size)
    request = make_advice_request(
        found,
        batch=batch,
        objective=objective,
        trainings=trainings,
        costs=costs,
        total=total,
        effort=effort_named(effort),
        steps=steps,
        current=current and current[1],
        lambdas=lambdas,
        stages=stages,
        minibatch=minibatch,
        epochs=epochs,
        settings=as_trained(given, settings or PPOSettings()),
        max_envs=max_envs,
        vector=vector,
        seed=seed,
        memory=memory,
    )
    folder = open_folder(request, out, given=given, runs=evidence, force=force)
    if runner is None and isinstance(env, str):
        runner = usual_runner(found)
    return answer_request(
        request, folder, given=given, runs=evidence, runner=runner, progress=progress
    )


def as_trained(given: Sequence[StageToMeasure], settings: PPOSettings) -> PPOSettings:
    """Return the settings with gamma and lambda of the given stages, where they are known."""
    known = given[0].frozen_policy.facts.get("settings", {}) if given else {}
    return replace(
        settings, gamma=known.get("gamma", settings.gamma), lam=known.get("lambda", settings.lam)
    )


def answer_request(
    request: AdviceRequest,
    folder: Folder,
    *,
    given: Sequence[StageToMeasure] = (),
    runs: Sequence[OwnRun] = (),
    runner: Runner | None = None,
    reproduce: str | None = None,
    collector: Collector | None = None,
    carried: Carried | None = None,
    remarks: Sequence[str] = (),
    race_samples: int | None = None,
    race_seconds: float | None = None,
    progress: Progress = lambda what, done, total: None,
    watch: Watch = lambda evidence: None,
) -> Advice:
    """Make the advice and its page; what the folder already holds is not done again.

    given: frozen policies to measure instead of one of a training. runs: finished runs whose
    trainings count as trainings of the race. reproduce: the call that asks
    the same, instead of a command line. collector: collects the chains of host envs; by default
    this process. carried: the user's settings in the words of their library. remarks: warnings
    about the request. race_samples, race_seconds: limits of the race. watch: called
    whenever a training of the race is done, and now and then meanwhile.
    """
    began = time.monotonic()
    prior = load_prior().without(request.env.id)
    parts = _Parts(progress, 4)
    with at_work(folder.path):
        costs = _costs(request, folder, progress)
        parts.done()
        race = make_race(request, costs, prior, (race_samples, race_seconds), runs)
        evidence = _race(race, folder, runner, progress, watch)
        stopped = evidence is not None and evidence.interrupted
        if stopped:  # every further report would stop the work again
            progress = parts.progress = _silent
        parts.done()
        inputs = AdviceInputs(request, prior, costs, evidence, (), {})
        stages = [] if stopped else list(given)
        if evidence is not None and inputs.judged is not None and not (stages or stopped):
            stages = stages_like(evidence, race.known.steps[inputs.judged.best], folder, progress)
        if stages:
            inputs = _explained(inputs, stages, collector, folder, parts)
        progress(OVERALL, parts.total, parts.total)
        made = Provenance(
            cost=_cost(inputs, folder, time.monotonic() - began),
            reproduce=reproduce or asked_again(request, given, runs),
            out=folder.path,
        )
        folder.write(ADVICE, advice_record(inputs, made, carried=carried, remarks=remarks))
        # As it is read back: the page is then the same as `nbyt report` makes.
        record = folder.require(ADVICE)
        from nbyt.report.pages.advice import advice_page  # the last part of the work

        advice_page(record).write(folder.path / PAGE.name)
    return Advice(record)


def asked_again(
    request: AdviceRequest, given: Sequence[StageToMeasure], runs: Sequence[OwnRun]
) -> str:
    """Return the command that asks the same again."""
    paths = map(shlex.quote, sources_of(runs, [each.source for each in given]))
    return " ".join([request.command(), *(["--from", *paths] if runs or given else [])])


def _cost(inputs: AdviceInputs, folder: Folder, seconds: float) -> Cost:
    """Return what the advice cost, with the seconds of earlier runs in the folder."""
    evidence = inputs.evidence
    samples = measured_samples(inputs.measured) + (0 if evidence is None else evidence.samples)
    with contextlib.suppress(StoreError):
        before = folder.read(ADVICE)
        if before is not None:  # reading what is there costs nothing new
            seconds = before.cost.seconds + (seconds if samples != before.cost.samples else 0.0)
    return Cost(
        trainings=0.0 if evidence is None else round(evidence.trainings, 6),
        samples=samples,
        seconds=round(seconds, 3),
    )


def _silent(what: str, done: int, total: int) -> None:
    """Report no progress: after an interruption, what is left is quick."""


def _race(
    race: Race,
    folder: Folder,
    runner: Runner | None,
    progress: Progress,
    watch: Watch,
) -> Evidence | None:
    """Hold the race that the budget pays for; None where nothing is trained and nothing given."""
    request = race.request
    if request.trainings == 0 and not race.given:
        return None
    if race.schedule.seeds == 0 and request.trainings > 0:
        arms = len(race.schedule.arms)
        raise UsageError(
            f"the budget pays for no quarter training of each of {arms} layouts",
            where="trainings",
            fix=f"give --trainings {arms * FRACTION:g} or more, or 0 for an answer without a race",
        )
    return hold_race(race, folder, runner=runner, progress=progress, watch=watch)


@dataclass
class _Parts:
    """Progress of the whole work, in parts."""

    progress: Progress
    total: int
    finished: int = 0

    def done(self) -> None:
        self.finished += 1
        self.progress(OVERALL, self.finished, self.total)


def _costs(request: AdviceRequest, folder: Folder, progress: Progress) -> UpdateCosts | None:
    """Return the costs of updates; None where only samples are compared."""
    if request.objective == "samples":
        return None
    source, timed = request.costs, None
    if source.timed_here:
        kept = folder.read(COSTS)
        if kept is None:
            layouts = [request.layout(steps) for steps in request.steps]
            timed = measure_costs(
                request.env, request.settings, layouts, vector=request.vector, progress=progress
            )
            folder.write(COSTS, timed.record)
        else:
            timed = costs_from(kept)
    return known_costs(source, request.steps, request.batch, timed)


def _explained(
    inputs: AdviceInputs,
    stages: Sequence[StageToMeasure],
    collector: Collector | None,
    folder: Folder,
    parts: _Parts,
) -> AdviceInputs:
    """Measure the stages; where the effort allows, diagnose the last around the advised layout."""
    from nbyt.advice.measuring import diagnose_stage, measure  # not for an answer without stages

    request, progress = inputs.request, parts.progress
    stages = [collected_by(collector, stage) for stage in stages]
    measured = measure(request, stages, folder, progress)
    parts.done()
    inputs = replace(inputs, measured=measured)
    if not request.effort.diagnosed:
        return inputs
    best, number = inputs.best(request.objective).steps, len(measured)
    look = folder.read(LOOK, number, best)
    if look is None:
        look = diagnose_stage(request, measured[-1], best, progress)
        folder.write(LOOK, look, number, best)
    return replace(inputs, looks={measured[-1].stage.name: look})
