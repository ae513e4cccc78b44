"""`nbyt advise`: which N x T to use, how sure that is, and why."""

from collections.abc import Iterator
from contextlib import closing, contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Annotated, Any, Literal

from cyclopts import Parameter
from rich.console import Console

from nbyt.advice.budget import BATCHES, SCOUT, Budget, budget_from, scout
from nbyt.advice.estimate import affordable, in_words, startable
from nbyt.advice.request import EPOCHS, HOST_ENVS, AdviceRequest, make_advice_request
from nbyt.advice.request import effort as effort_named
from nbyt.advice.run import Advice, answer_request, as_trained, command_line
from nbyt.advice.stages import StageToMeasure, given_stages, open_folder
from nbyt.cli.current import CurrentLayout, as_used, own_layout, remarks, with_own
from nbyt.cli.options import EnvId, Learning
from nbyt.cli.output import Common, Outcome, dry_run, facts_table, show, show_verbatim, talk, warn
from nbyt.cli.progress import watched
from nbyt.envs import DeviceEnv, HostEnv, resolve
from nbyt.errors import EnvError, RunInterruptedError, UsageError
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
)
from nbyt.report.tables.advice import change_lines, facts, summary
from nbyt.train import hardware


@dataclass(frozen=True)
class AdviseOptions:
    """The options of `nbyt advise`."""

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
    env: EnvId,
    *,
    options: Annotated[AdviseOptions, Parameter(name="*")] = AdviseOptions(),
    settings: Annotated[Learning, Parameter(name="*", group="Learning")] = Learning(),
    common: Annotated[Common, Parameter(name="*")] = Common(),
) -> Outcome:
    """Say which N x T to split a batch into on this env, how sure that is, and why."""
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
            message = f"'{found.id}' runs on the device, where its chains are collected in moments"
            fix = "leave --ray out; it is for host envs that are slow"
            raise UsageError(message, where="ray", fix=fix)
        console = talk(quiet=common.quiet)
        given = given_stages(options.from_, found) if options.from_ else []
        options = _with_startable(found, options, own, console)
        asked = _Asked(found, options, settings, given, own, budget, collector)
        return _answer(asked, common, console)


@contextmanager
def _collector(options: AdviseOptions) -> Iterator[Collector | None]:
    """Yield what collects the chains on Ray, or None for this process."""
    if not options.ray or options.dry_run:
        yield None
        return
    from nbyt.sweep.cluster import ClusterPools, Connection

    with closing(Connection(options.ray)) as connection:
        yield ClusterPools(connection)


def _with_startable(
    env: DeviceEnv | HostEnv, options: AdviseOptions, own: CurrentLayout | None, console: Console
) -> AdviseOptions:
    """Lower --max-envs to what can be started at once, with a warning."""
    if not isinstance(env, HostEnv):
        return options
    wanted = options.max_envs or HOST_ENVS
    size = options.batch or (own.envs * own.steps if own else max(BATCHES))
    most = startable(env, wanted, options.vector, batch=size)
    if most < wanted:
        warn(
            console, [f"{wanted} envs cannot be started at once: no more than {most} are compared"]
        )
    return replace(options, max_envs=most)


# Options that a request has too.
_SAME = ("effort", "stages", "max_envs", "objective", "vector", "seed")


@dataclass(frozen=True)
class _Asked:
    """The command line, read."""

    env: DeviceEnv | HostEnv
    options: AdviseOptions
    settings: Learning
    given: list[StageToMeasure]
    own: CurrentLayout | None
    budget: Budget | None
    collector: Collector | None

    @property
    def flags(self) -> set[str]:
        """Return the settings of learning that the command line names: they win over --current."""
        options = self.options
        named = {"minibatch": options.minibatch, "epochs": options.epochs, "total": options.total}
        given = {name for name, value in {**named, "lambda": options.lam}.items() if value}
        return given | self.settings.given

    def request(self, batch: int | None = None, **changes: Any) -> AdviceRequest:
        options, own = self.options, self.own
        settings = with_own(self.settings, own, self.flags)
        numbers = {
            "steps": SIZES.read(options.steps, "--steps") if options.steps else (),
            "lambdas": PROBABILITIES.read(options.lam, "--lambda") if options.lam else None,
            "memory": int(MEMORY.read(options.memory, "--memory")),
        }
        values = {} if own is None else own.values
        given: dict[str, Any] = {
            **numbers,
            **{name: getattr(options, name) for name in _SAME},
            "current": own and own.steps,
            "total": options.total or values.get("total"),
            "minibatch": options.minibatch or values.get("minibatch"),
            "epochs": options.epochs or values.get("epochs", EPOCHS),
            "settings": as_trained(self.given, settings),
        }
        given |= changes
        effort = effort_named(given.pop("effort"))
        size = batch or options.batch or (own.envs * own.steps if own else 0)
        return make_advice_request(self.env, batch=size, effort=effort, **given)

    def scout(self, batch: int) -> AdviceRequest:
        """Make the request of a scout, which comes before the batch is known."""
        return self.request(batch, effort="quick", stages=None, total=None)


def _answer(asked: _Asked, common: Common, console: Console) -> Outcome:
    options, proposal = asked.options, None
    if asked.budget is None:
        request = asked.request()
    elif options.dry_run:
        request = asked.scout(SCOUT)  # the scout comes first, so its costs are shown
    else:
        proposal = _proposal(asked, asked.budget, console)
        request = asked.request(proposal["batch"])
    command = request.command()
    limit = DURATION.read(options.time_limit, "--time-limit")
    timed = options.per != "sample"
    data = affordable(request, limit, trained=not asked.given, timed=timed).as_dict()
    about = in_words(data["seconds"])
    said = remarks(asked.own, request, asked.flags)
    if options.dry_run:
        data = {"batch": request.batch, "layouts": len(request.steps), **data}
        warn(console, said)
        return dry_run(data, common, said)
    console.print(f"{command}\nabout {about}")
    advice = _advise(request, asked, proposal, said, console)
    data, record = advice.data, advice.record
    tables = None if common.json else (facts(record), summary(record), change_lines(record))
    warn(console, data["warnings"])
    if tables is not None:
        things, rows, changes = tables
        show(facts_table(things), "", *rows)
        for line in changes:
            show_verbatim(line)
        show(f"report: {data['report']}")
    return Outcome(data, data["warnings"])


def _proposal(asked: _Asked, budget: Budget, console: Console) -> dict[str, Any]:
    """Return the batch that a scout proposes for a budget."""
    if asked.options.batch is not None or asked.own is not None:
        message = "a budget proposes a batch; it cannot be given too"
        fix = "leave --batch and --current out, or --budget"
        raise UsageError(message, where="budget", fix=fix)
    try:
        with watched(console) as progress:
            out, collector = asked.options.out, asked.collector
            return scout(asked.scout, budget, out, collector, progress=progress)
    except (KeyboardInterrupt, RunInterruptedError) as error:
        message = "what the scout has trained and measured so far is saved"
        fix = "give the same command again to go on"
        raise RunInterruptedError(message, where="budget", fix=fix) from error


def _advise(
    request: AdviceRequest,
    asked: _Asked,
    proposal: dict[str, Any] | None,
    said: list[str],
    console: Console,
) -> Advice:
    options = asked.options
    carried = as_used(asked.own, request, asked.flags)
    with watched(console) as progress:
        folder = open_folder(request, asked.given, options.out, force=options.force)
        try:
            return answer_request(
                request,
                folder,
                given=asked.given,
                own=None if asked.own is None else asked.own.steps,
                carried=carried,
                remarks=said,
                per=options.per,
                weigh=options.weigh,
                budget=proposal,
                collector=asked.collector,
                progress=progress,
            )
        except (KeyboardInterrupt, RunInterruptedError) as error:
            line = command_line(request, asked.given, per=options.per, weigh=options.weigh)
            message = "what was trained and measured so far is saved"
            fix = f"give the same command again to go on: {line} --out {folder.path}"
            raise RunInterruptedError(message, where=str(folder.path), fix=fix) from error
        except EnvError as error:
            rest = (
                f"what was measured is kept in {folder.path}: the same command goes on from there"
            )
            fix = "; ".join(filter(None, [error.fix, rest]))
            raise EnvError(error.message, where=error.where, fix=fix) from error.__cause__
