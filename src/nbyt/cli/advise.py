"""`nbyt advise`: which N x T to use, how sure that is, and why."""

from collections.abc import Iterator
from contextlib import closing, contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Annotated, Any, Literal

from cyclopts import Parameter
from rich.console import Console

from nbyt.advice.estimate import affordable, in_words, planned_race, startable, total_for
from nbyt.advice.given import OwnRun, own_runs
from nbyt.advice.request import BATCH, AdviceRequest, make_advice_request
from nbyt.advice.request import effort as effort_named
from nbyt.advice.result import Advice
from nbyt.advice.run import answer_request, as_trained, asked_again
from nbyt.advice.stages import StageToMeasure, given_stages, open_folder
from nbyt.cli.advise_display import RaceDisplay
from nbyt.cli.current import CurrentLayout, as_used, own_layout, remarks, with_own
from nbyt.cli.options import EnvId, Learning
from nbyt.cli.output import Common, Outcome, dry_run, show, show_verbatim, talk, warn
from nbyt.envs import DeviceEnv, HostEnv, resolve
from nbyt.envs.protocol import usual_envs
from nbyt.errors import EnvError, RunInterruptedError, UsageError
from nbyt.measure.frozen_policy import Collector
from nbyt.numbers import (
    BUDGET,
    DURATION,
    MEMORY,
    PROBABILITIES,
    SAMPLES,
    SIZES,
    BudgetText,
    DurationText,
    MemoryText,
    Passes,
    ProbabilitiesText,
    SamplesText,
    Seed,
    Size,
    SizesText,
    Stages,
    Steps,
    Trainings,
    read_if_given,
)
from nbyt.progress import watched
from nbyt.report.tables.advice import change_lines, summary
from nbyt.sweeps.cells import Runner, usual_runner
from nbyt.training import hardware
from nbyt.training.plan import EPOCHS, HOST_ENVS

_HIDDEN = Parameter(show=False)
_INTERRUPTED = 130


@dataclass(frozen=True)
class AdviseOptions:
    """The options of `nbyt advise`."""

    batch: Size | None = None
    """Samples of a batch, N x T; its splits are compared. Without, 2,048."""

    total: Steps | None = None
    """Environment steps of the training that you plan; without, at least 200,000."""

    trainings: Trainings | None = None
    """What the race may cost, in whole trainings; without, 4 for time and 0 for samples."""

    objective: str = "time"
    """The highest return for the same time, or for the same samples: time or samples."""

    costs: str = ""
    """What an update costs: measured, parallel, parallel:16, or the file of `nbyt time`."""

    samples: SamplesText = ""
    """The most env steps that the race may take, such as 2M."""

    time: DurationText = ""
    """About how long the race may take, such as 5m."""

    budget: BudgetText = ""
    """What the training that you plan may cost: samples such as 2M, or time such as 10m."""

    current: Annotated[tuple[str, ...], Parameter(consume_multiple=True)] = ()
    """Your own layout, such as 8x256, or settings, such as sb3 n_envs=8: is a change worth it?"""

    effort: Literal["quick", "normal", "thorough"] = "normal"
    """How many trainings (2, 4 or 8), and how much is measured to explain the answer."""

    steps: SizesText = ""
    """Rollout steps T to compare, such as 8,32,128; without, the divisors of the batch to 2,048."""

    lam: ProbabilitiesText = ""
    """Lambda of GAE; the first is trained with, the others are measured with --effort thorough."""

    max_envs: Size | None = None
    """Most envs that may be advised; without, 64 for host envs."""

    from_: Annotated[tuple[Path, ...], Parameter(consume_multiple=True)] = ()
    """Your finished trainings and sweeps, which count in the race; or stages, which explain."""

    stages: Stages | None = None
    """How many frozen policies are measured to explain the answer."""

    minibatch: Size | None = None
    """Samples of one gradient step; without, 256 or the next divisor of the batch below."""

    epochs: Passes | None = None
    """Passes over the batch in one update; without, 4."""

    time_limit: DurationText = "30m"
    """The longest that all of it may take, by the forecast."""

    seed: Seed = 0
    """Seed of all randomness."""

    out: Path | None = None
    """Folder of the advice; giving the same command again goes on."""

    force: bool = False
    """Clear another advice from that folder."""

    vector: Literal["sync", "async"] = "sync"
    """Host envs in this process, or in a process each."""

    memory: MemoryText = "1G"
    """Memory that measuring may use, such as 512M."""

    ray: str = ""
    """Train host envs on Ray: auto, or a cluster's address (extra `ray`)."""

    device: Literal["auto", "cpu", "gpu", "tpu"] = "auto"
    """Where JAX computes."""

    dry_run: bool = False
    """Say what would be done, and what it costs, and stop."""

    per: Annotated[str, _HIDDEN] = ""
    weigh: Annotated[str, _HIDDEN] = ""


# What the options of earlier versions are replaced with.
_REPLACED = {
    "per": {
        "sample": "--objective samples",
        "second": "--objective time",
        "both": "the command without it: both answers are given",
    },
    "objective": dict.fromkeys(
        ("both", "actor", "critic", "total"),
        "--objective time or samples: trainings decide, and no gradient",
    ),
    "weigh": {},
}


def run(
    env: EnvId,
    *,
    options: Annotated[AdviseOptions, Parameter(name="*")] = AdviseOptions(),
    settings: Annotated[Learning, Parameter(name="*", group="Learning")] = Learning(),
    common: Annotated[Common, Parameter(name="*")] = Common(),
) -> Outcome:
    """Say which N x T to split a batch into on this env, how sure that is, and why."""
    _refuse_replaced(options)
    console = talk(quiet=common.quiet)
    own = own_layout(options.current, options.batch)
    with _ray(options) as (collector, cluster):  # Ray comes before JAX
        hardware.prepare(options.device, quiet=common.quiet)
        found = resolve(env)
        if collector is not None and not isinstance(found, HostEnv):
            message = f"'{found.id}' runs on the device, which trains all seeds in moments"
            fix = "leave --ray out; it is for host envs that are slow"
            raise UsageError(message, where="ray", fix=fix)
        runs, stages = own_runs(options.from_)
        given = given_stages(stages, found) if stages else []
        options = _with_startable(found, options, own, console)
        runner = cluster or usual_runner(found)
        asked = _Asked(found, options, settings, given, runs, own, collector, runner)
        return _answer(asked, common, console)


def _refuse_replaced(options: AdviseOptions) -> None:
    """Raise a UsageError for an option or a value that no longer exists."""
    for name, words in _REPLACED.items():
        value = getattr(options, name)
        if value and (name != "objective" or value in words):
            raise UsageError(
                f"--{name} {value} is no longer an option: a race of trainings decides",
                where=name,
                fix=f"use {words.get(value, 'the command without it')}",
            )


@contextmanager
def _ray(options: AdviseOptions) -> Iterator[tuple[Collector | None, Runner | None]]:
    """Yield what collects chains and what trains on Ray, or None for this machine."""
    if not options.ray or options.dry_run:
        yield None, None
        return
    from nbyt.sweeps.cluster import RETRIES, Cluster, ClusterPools, Connection

    with closing(Connection(options.ray)) as connection:
        yield ClusterPools(connection), Cluster(options.ray, None, RETRIES, connection=connection)


def _with_startable(
    env: DeviceEnv | HostEnv, options: AdviseOptions, own: CurrentLayout | None, console: Console
) -> AdviseOptions:
    """Lower --max-envs to what can be started at once, with a warning."""
    if not isinstance(env, HostEnv):
        return options
    size = options.batch or (own.envs * own.steps if own else BATCH)
    wanted = options.max_envs or usual_envs(env, size, HOST_ENVS)
    most = startable(env, wanted, options.vector, batch=size)
    if most < wanted:
        warn(
            console, [f"{wanted} envs cannot be started at once: no more than {most} are compared"]
        )
    return replace(options, max_envs=most)


# Options that a request has too.
_SAME = ("objective", "trainings", "stages", "max_envs", "vector", "seed")


@dataclass(frozen=True)
class _Asked:
    """The command line, read."""

    env: DeviceEnv | HostEnv
    options: AdviseOptions
    settings: Learning
    given: list[StageToMeasure]
    runs: list[OwnRun]
    own: CurrentLayout | None
    collector: Collector | None
    runner: Runner | None

    @property
    def flags(self) -> set[str]:
        """Return the settings of learning that the command line names: they win over --current."""
        options = self.options
        named = {"minibatch": options.minibatch, "epochs": options.epochs, "total": options.total}
        given = {name for name, value in {**named, "lambda": options.lam}.items() if value}
        return given | self.settings.given

    @property
    def limits(self) -> tuple[int | None, float | None]:
        """Return the most env steps and seconds of the race."""
        return (
            read_if_given(SAMPLES, self.options.samples, "--samples"),
            read_if_given(DURATION, self.options.time, "--time"),
        )

    def request(self) -> AdviceRequest:
        """Return what is asked; a budget of time decides the total."""
        options, own = self.options, self.own
        settings = with_own(self.settings, own, self.flags)
        values = {} if own is None else own.values
        given: dict[str, Any] = {
            "steps": SIZES.read(options.steps, "--steps") if options.steps else (),
            "lambdas": PROBABILITIES.read(options.lam, "--lambda") if options.lam else None,
            "memory": int(MEMORY.read(options.memory, "--memory")),
            **{name: getattr(options, name) for name in _SAME},
            "costs": options.costs or None,
            "current": own and own.steps,
            "total": options.total or values.get("total"),
            "minibatch": options.minibatch or values.get("minibatch"),
            "epochs": options.epochs or values.get("epochs", EPOCHS),
            "settings": as_trained(self.given, settings),
            "effort": effort_named(options.effort),
        }
        size = options.batch or (own.envs * own.steps if own else BATCH)
        request = make_advice_request(self.env, batch=size, **given)
        if not options.budget:
            return request
        if options.total is not None:
            message = "a budget and a total say the same thing twice"
            raise UsageError(message, where="budget", fix="leave one of them out")
        return replace(request, total=self._total(request))

    def _total(self, request: AdviceRequest) -> int:
        """Return the env steps that a budget pays for: samples, or seconds on this machine."""
        text = self.options.budget
        amount = BUDGET.read(text, "--budget")
        if text.strip().endswith(("s", "m", "h")):
            return total_for(request, float(amount))
        return max(int(amount), request.batch)


def _answer(asked: _Asked, common: Common, console: Console) -> Outcome:
    options, limits, request = asked.options, asked.limits, asked.request()
    said = remarks(asked.own, request, asked.flags)
    limit = DURATION.read(options.time_limit, "--time-limit")
    race = planned_race(request, limits, asked.runs)
    timed = request.objective == "time" and request.costs.timed_here
    data = affordable(race, limit, timed=timed).as_dict()
    about, command = in_words(data["seconds"]), request.command()
    if options.dry_run:
        arms = [f"{request.batch // steps}x{steps}" for steps in race.schedule.arms]
        data = {
            "batch": request.batch,
            "layouts": len(request.steps),
            "arms": ", ".join(arms),
            "seeds": race.schedule.seeds,
            **data,
        }
        warn(console, said)
        return dry_run(data, common, said)
    console.print(f"{command}\nabout {about}")
    advice = _advise(request, asked, said, console)
    data, record = advice.data, advice.record
    lines, changes = summary(record), change_lines(record)
    warn(console, data["warnings"])
    if not common.json:
        show(*lines)
        for line in changes:
            show_verbatim(line)
        show(f"report: {data['report']}")
    if any(one.startswith("interrupted") for one in data["warnings"]):
        return Outcome(data, data["warnings"], "interrupted", _INTERRUPTED)
    return Outcome(data, data["warnings"])


def _advise(request: AdviceRequest, asked: _Asked, said: list[str], console: Console) -> Advice:
    options = asked.options
    carried = as_used(asked.own, request, asked.flags)
    samples, seconds = asked.limits
    display = RaceDisplay(console)
    with watched(console, above=display) as progress:
        folder = open_folder(
            request, options.out, given=asked.given, runs=asked.runs, force=options.force
        )
        try:
            return answer_request(
                request,
                folder,
                given=asked.given,
                runs=asked.runs,
                runner=asked.runner,
                collector=asked.collector,
                carried=carried,
                remarks=said,
                race_samples=samples,
                race_seconds=seconds,
                progress=progress,
                watch=display.watch,
            )
        except (KeyboardInterrupt, RunInterruptedError) as error:
            line = asked_again(request, asked.given, asked.runs)
            message = "what was trained so far is saved"
            fix = f"give the same command again to go on: {line} --out {folder.path}"
            raise RunInterruptedError(message, where=str(folder.path), fix=fix) from error
        except EnvError as error:
            rest = f"what was trained is kept in {folder.path}: the same command goes on from there"
            fix = "; ".join(filter(None, [error.fix, rest]))
            raise EnvError(error.message, where=error.where, fix=fix) from error.__cause__
