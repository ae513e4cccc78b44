"""`nbyt advise`: which N x T to use, how sure that is, and why."""

from collections.abc import Iterator
from contextlib import closing, contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Annotated, Any, Literal

from cyclopts import Parameter
from rich.console import Console

from nbyt.advice.budget import BATCHES, SCOUT, Budget, budget_from
from nbyt.advice.estimate import full_pace, in_words, require_time, startable, step_pace
from nbyt.advice.request import EPOCHS, HOST_ENVS, AdviceRequest, make_advice_request
from nbyt.advice.request import effort as effort_named
from nbyt.advice.run import Advice, answer_request, as_trained, command_line, open_folder, scout
from nbyt.advice.stages import StageToMeasure, given_stages
from nbyt.cli.current import Own, own_layout, remarks, settled, with_own
from nbyt.cli.options import Learning
from nbyt.cli.output import Common, Outcome, facts_table, show, show_verbatim, talk, warn
from nbyt.cli.progress import watched
from nbyt.envs import DeviceEnv, HostEnv, resolve
from nbyt.errors import EnvError, NbytError, RunInterruptedError, UsageError
from nbyt.measure.frozen_policy import Collector
from nbyt.numbers import (
    DURATION,
    MEMORY,
    PROBABILITIES,
    SIZES,
    BudgetText,
    Count,
    DurationText,
    MemoryText,
    Passes,
    ProbabilitiesText,
    Seed,
    Size,
    SizesText,
    Steps,
    read_if_given,
)
from nbyt.report.tables.advice import (
    answer_lines,
    answers_shown,
    budget_table,
    change_lines,
    ranking_table,
    stage_table,
)
from nbyt.store.advice import AdviceFolder
from nbyt.train import hardware
from nbyt.train.plan import PPOSettings


@dataclass(frozen=True)
class AdviseOptions:
    """What is asked, and with how much effort."""

    batch: Size | None = None
    """Samples of a batch, N x T; its splits are compared."""

    budget: BudgetText = ""
    """Time such as 10m, or samples such as 2M, that a training run may cost; proposes a batch."""

    current: Annotated[tuple[str, ...], Parameter(consume_multiple=True)] = ()
    """Your own layout, such as 8x256, or settings, such as sb3 n_envs=8: is a change worth it?"""

    effort: Literal["quick", "normal", "thorough"] = "normal"
    """How much may be spent."""

    objective: Literal["both", "actor", "critic", "total"] = "both"
    """Whose gradient decides; both: a layout counts as the weaker of actor and critic."""

    per: Literal["sample", "second", "both"] = "both"
    """Compare for the same samples, for the same time on this machine, or both."""

    steps: SizesText = ""
    """Rollout steps T to compare, such as 8,32,128; without, the divisors of the batch to 2,048."""

    lam: ProbabilitiesText = ""
    """Lambda of GAE; the first is trained with, all are compared, such as 0.95,0.9,1."""

    max_envs: Size | None = None
    """Most envs that may be advised; without, 64 for host envs."""

    from_: Annotated[tuple[Path, ...], Parameter(consume_multiple=True)] = ()
    """Stages to measure, or runs that hold some, instead of training."""

    total: Steps | None = None
    """Environment steps of the training whose stages are measured."""

    stages: Count | None = None
    """How many stages to measure."""

    weigh: Literal["learning", "samples"] = "learning"
    """Stages count by what was still to be learned there, or by their samples alone."""

    minibatch: Size | None = None
    """Samples of one gradient step; without, 256 or the next divisor of the batch below."""

    epochs: Passes | None = None
    """Passes over the batch in one update; without, 4."""

    time_limit: DurationText = "30m"
    """The longest that it may take, by the forecast for slow envs."""

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
    """Slow host envs: collect chains on Ray: auto, or a cluster's address (extra `ray`)."""

    device: Literal["auto", "cpu", "gpu", "tpu"] = "auto"
    """Where JAX computes."""

    dry_run: bool = False
    """Say what would be done, and what it costs, and stop."""


def run(
    env: str,
    *,
    options: Annotated[AdviseOptions, Parameter(name="*")] = AdviseOptions(),
    settings: Annotated[Learning, Parameter(name="*", group="Learning")] = Learning(),
    common: Annotated[Common, Parameter(name="*")] = Common(),
) -> Outcome:
    """Say which N x T to split a batch into on this env, how sure that is, and why.

    Parameters
    ----------
    env
        tabular:, gymnax:, gym: or envpool: and a name, package.module:make_env, or a bare name.
    """
    budget = budget_from(options.budget) if options.budget else None
    own = own_layout(options.current, options.batch)
    if options.batch is None and own is None and budget is None:
        raise UsageError(
            "no batch given", where="batch", fix="add --batch 2048, --current 8x256 or --budget 10m"
        )
    with _collector(options) as collector:  # Ray comes before JAX
        hardware.prepare(options.device, quiet=common.quiet)
        found = resolve(env)
        if collector is not None and not isinstance(found, HostEnv):
            raise UsageError(
                f"'{found.id}' runs on the device, where its chains are collected in moments",
                where="ray",
                fix="leave --ray out; it is for host envs that are slow",
            )
        return _run(found, options, settings, common, budget, own, collector)


@contextmanager
def _collector(options: AdviseOptions) -> Iterator[Collector | None]:
    """Who collects the chains, where that is not this process; the cluster is left afterwards."""
    if not options.ray or options.dry_run:
        yield None
        return
    from nbyt.sweep.cluster import ClusterPools, Connection

    with closing(Connection(options.ray)) as connection:
        yield ClusterPools(connection)


def _run(
    found: DeviceEnv | HostEnv,
    options: AdviseOptions,
    settings: Learning,
    common: Common,
    budget: Budget | None,
    own: Own | None,
    collector: Collector | None,
) -> Outcome:
    given = given_stages(options.from_, found) if options.from_ else []
    console = talk(quiet=common.quiet)
    wanted = options.max_envs or HOST_ENVS
    size = options.batch or (own.envs * own.steps if own else max(BATCHES))
    is_host = isinstance(found, HostEnv)
    most = startable(found, wanted, options.vector, batch=size) if is_host else None
    if most is not None and most < wanted:
        warn(
            console, [f"{wanted} envs cannot be started at once: no more than {most} are compared"]
        )
    options = replace(options, max_envs=most or options.max_envs)
    asked = _Asked(found, options, settings, given, own, collector)
    # A dry run of a budget is that of its scout, which comes first.
    scouted = budget is not None and not options.dry_run
    proposal = _proposal(asked, budget, console) if scouted and budget is not None else None
    request = asked.scout(SCOUT) if budget is not None and proposal is None else None
    request = request or asked.request(None if proposal is None else proposal["batch"])
    data = _forecast(request, asked)
    said = remarks(own, request, asked.flags)
    if options.dry_run:
        warn(console, said)
        if not common.json:
            show(facts_table([(k.replace("_", " "), f"{v:,}") for k, v in data.items()]))
        return Outcome(data, said)
    console.print(f"{request.command()}\nabout {in_words(data['seconds'])}")
    advice = _advise(request, asked, proposal, said, console)
    warn(console, advice.data["warnings"])
    if not common.json:
        _show(advice.data)
    return Outcome(advice.data, advice.data["warnings"])


@dataclass(frozen=True)
class _Asked:
    """The command line, read."""

    env: Any
    options: AdviseOptions
    settings: Learning
    given: list[StageToMeasure]
    own: Own | None
    collector: Collector | None

    @property
    def flags(self) -> set[str]:
        """The settings of learning that the command line names: they win over --current."""
        options = self.options
        named = {"minibatch": options.minibatch, "epochs": options.epochs, "total": options.total}
        given = {name for name, value in {**named, "lambda": options.lam}.items() if value}
        return given | self.settings.given

    def request(self, batch: int | None, effort: str = "", **changes: Any) -> AdviceRequest:
        """The question about a batch; without one, about the user's."""
        options = self.options
        lambdas = read_if_given(PROBABILITIES, options.lam, "--lambda") or ()
        names = PPOSettings.__dataclass_fields__
        # Of the class that the rest of nbyt knows.
        plain = PPOSettings(**{name: getattr(self.settings, name) for name in names})
        own = {} if self.own is None else self.own.values
        size = batch or options.batch or (self.own.envs * self.own.steps if self.own else 0)
        given: dict[str, Any] = {
            "steps": read_if_given(SIZES, options.steps, "--steps") or (),
            "current": self.own and self.own.steps,
            "lambdas": lambdas,
            "total": options.total or own.get("total"),
            "stages": options.stages,
            "minibatch": options.minibatch or own.get("minibatch"),
            "epochs": options.epochs or own.get("epochs", EPOCHS),
            "settings": as_trained(self.given, with_own(plain, self.own, self.flags)),
            "max_envs": options.max_envs,
            "objective": options.objective,
            "vector": options.vector,
            "seed": options.seed,
            "memory": int(MEMORY.read(options.memory, "--memory")),
        }
        named = effort_named(effort or options.effort)
        return make_advice_request(self.env, batch=size, effort=named, **{**given, **changes})

    def scout(self, batch: int) -> AdviceRequest:
        """The question that a scout asks before the batch is known."""
        return self.request(batch, "quick", stages=None, total=None)


def _forecast(request: AdviceRequest, asked: _Asked) -> dict[str, Any]:
    """What it will cost; an error where that is more than the user allows."""
    parts = {"trained": not asked.given, "timed": asked.options.per != "sample"}
    limit = DURATION.read(asked.options.time_limit, "--time-limit")
    pace = step_pace(request.env)
    # A slow env is told before it has to make a whole update.
    require_time(request, pace, limit, **parts)
    expected = require_time(request, full_pace(request, pace), limit, **parts)
    return {"batch": request.batch, "layouts": len(request.steps), **expected.as_dict()}


def _proposal(asked: _Asked, budget: Budget, console: Console) -> dict[str, Any]:
    """The batch that a scout proposes for a budget."""
    if asked.options.batch is not None or asked.own is not None:
        raise UsageError(
            "a budget proposes a batch; it cannot be given too",
            where="budget",
            fix="leave --batch and --current out, or --budget",
        )
    try:
        with watched(console) as progress:
            out, collector = asked.options.out, asked.collector
            return scout(asked.scout, budget, out, collector, progress=progress)
    except (KeyboardInterrupt, RunInterruptedError) as error:
        raise RunInterruptedError(
            "what the scout has trained and measured so far is saved",
            where="budget",
            fix="give the same command again to go on",
        ) from error


def _advise(
    request: AdviceRequest,
    asked: _Asked,
    proposal: dict[str, Any] | None,
    said: list[str],
    console: Console,
) -> Advice:
    options = asked.options
    folder = open_folder(request, asked.given, options.out, force=options.force)
    line = command_line(request, asked.given, per=options.per, weigh=options.weigh)
    again = f"{line} --out {folder.path}"
    try:
        return _answer(request, folder, asked, proposal, said, console)
    except (KeyboardInterrupt, RunInterruptedError) as error:
        raise RunInterruptedError(
            "what was trained and measured so far is saved",
            where=str(folder.path),
            fix=f"give the same command again to go on: {again}",
        ) from error
    except EnvError as error:
        raise _kept(error, folder) from error.__cause__


def _answer(
    request: AdviceRequest,
    folder: AdviceFolder,
    asked: _Asked,
    proposal: dict[str, Any] | None,
    said: list[str],
    console: Console,
) -> Advice:
    options = asked.options
    with watched(console) as progress:
        return answer_request(
            request,
            folder,
            given=asked.given,
            own=None if asked.own is None else asked.own.steps,
            carried=settled(asked.own, request, asked.flags),
            remarks=said,
            per=options.per,
            weigh=options.weigh,
            budget=proposal,
            collector=asked.collector,
            progress=progress,
        )


def _kept(error: EnvError, folder: AdviceFolder) -> NbytError:
    rest = f"what was measured is kept in {folder.path}: the same command goes on from there"
    return EnvError(
        error.message, where=error.where, fix="; ".join(filter(None, [error.fix, rest]))
    )


def _decider(data: dict[str, Any]) -> str:
    """Whose gradient the advice is about, in words."""
    who = data["decided_by"]
    return "actor and critic" if who == "both" else f"{who}'s gradient"


def _show(data: dict[str, Any]) -> None:
    rows = [
        ("env", f"{data['env']}, batch {data['batch']:,}, {_decider(data)}"),
        ("learning", f"gamma {data['gamma']:g}, lambda {data['lambda']:g}, seed {data['seed']}"),
    ]
    show(facts_table(rows), "", stage_table(data), "")
    if data["budget"] is not None:
        show(budget_table(data["budget"]), "", data["budget"]["sentence"], "")
    for kind in answers_shown(data):
        show(ranking_table(data, kind), "")
    show("* best   = not told apart from it   [95 % interval]   ~ approximate")
    show("¹ share of the returns' variance that it explains", "")
    main = data["advice"][answers_shown(data)[0]]
    for line in main["reasons"]:
        show(f"- {line}")
    if main["remedies"]:
        show("", "What would help beside the split:")
        for line in main["remedies"]:
            show(f"- {line}")
    show("")
    for extra in (data["agreement"], main["to_settle"], (data["current"] or {}).get("per_sample")):
        if extra is not None:
            show(extra["sentence"])
    for line in answer_lines(data):
        show(line)
    for line in change_lines(data):
        show_verbatim(line)
    show(f"report: {data['report']}")
