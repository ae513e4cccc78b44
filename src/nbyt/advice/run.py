"""nbyt.advise: train, measure, time and rank; every step is kept as soon as it is done."""

import platform
import shlex
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from nbyt.advice.assemble import AdviceInputs, advice_data, deciding_stage
from nbyt.advice.budget import SCOUT, Budget, candidates, propose
from nbyt.advice.costs import Costs, costs_from, measure_costs
from nbyt.advice.estimate import startable
from nbyt.advice.request import HOST_ENVS, AdviceRequest, make_advice_request
from nbyt.advice.request import effort as effort_named
from nbyt.advice.stages import (
    StageToMeasure,
    collected_by,
    diagnose_stage,
    given_stages,
    measure,
    train_stages,
)
from nbyt.dialects.carrying import Carried
from nbyt.envs import HostEnv, resolve
from nbyt.errors import UsageError
from nbyt.measure.frozen_policy import Collector
from nbyt.measure.request import Progress
from nbyt.numbers import SIZE, SPLIT, require
from nbyt.policy.stage import Stage
from nbyt.report.pages.advice import card, write_page
from nbyt.results import plain
from nbyt.store.files import ADVICE, COSTS, LOOK, PAGE
from nbyt.store.manifest import manifest, versions
from nbyt.store.paths import at_work, resolved_entry
from nbyt.store.run import Folder, open_run
from nbyt.store.text import slug
from nbyt.train import hardware
from nbyt.train.plan import PPOSettings

# The name under which progress speaks of the whole work.
OVERALL = "parts done"


@dataclass(frozen=True)
class Advice:
    """What was found: `data` is what --json prints; a notebook shows the answer as a card."""

    data: dict[str, Any] = field(repr=False)

    @property
    def per_sample(self) -> dict[str, Any]:
        """The best layout for the same samples."""
        return self.data["advice"]["per_sample"]

    @property
    def per_second(self) -> dict[str, Any] | None:
        """The best layout for the same time on this machine; None where that was not timed."""
        return self.data["advice"]["per_second"]

    @property
    def report(self) -> Path:
        """The page."""
        return Path(self.data["report"])

    def as_dict(self) -> dict[str, Any]:
        """The form that JSON output promises."""
        return self.data

    def _repr_html_(self) -> str:
        return card(self.data)


def advise(
    env: Any,
    *,
    batch: int,
    effort: str = "normal",
    stages_from: Sequence[Stage | Path | str] = (),
    current: tuple[int, int] | None = None,
    per: str = "both",
    weigh: str = "learning",
    out: Path | str | None = None,
    force: bool = False,
    progress: Progress = lambda what, done, total: None,
    settings: PPOSettings | None = None,
    **options: Any,
) -> Advice:
    """Which N x T to split a batch into, on this env: per sample, and per second.

    stages_from: stages to measure instead of training some. current: your own (envs, steps).
    options: the other arguments of `make_advice_request`: seed, total, stages, lambdas, max_envs.
    """
    found = resolve(env)
    given = given_stages(stages_from, found) if stages_from else []
    (current,), _ = require(SPLIT, current=current), require(SIZE, max_envs=options.get("max_envs"))
    if isinstance(found, HostEnv):
        wanted = options.get("max_envs") or HOST_ENVS
        options["max_envs"] = startable(
            found, wanted, options.get("vector", "sync"), batch=SIZE.check(batch, "batch")
        )
    request = make_advice_request(
        found,
        batch=batch,
        effort=effort_named(effort),
        current=current and current[1],
        settings=as_trained(given, settings or PPOSettings()),
        **options,
    )
    folder = open_folder(request, given, out, force=force)
    return answer_request(
        request,
        folder,
        given=given,
        own=current and current[1],
        per=per,
        weigh=weigh,
        progress=progress,
    )


def as_trained(given: Sequence[StageToMeasure], settings: PPOSettings) -> PPOSettings:
    """The settings with gamma and lambda of the stages that are given, where they say them."""
    known = given[0].frozen_policy.facts.get("settings", {}) if given else {}
    return replace(
        settings,
        gamma=known.get("gamma", settings.gamma),
        lam=known.get("lambda", settings.lam),
    )


def open_folder(
    request: AdviceRequest,
    given: Sequence[StageToMeasure],
    out: Path | str | None,
    *,
    force: bool,
    inner: bool = False,
) -> Folder:
    """The folder of the advice, new or resumed; another question's folder is refused.

    inner: it is part of another folder; see `open_as`.
    """
    env, effort = request.env.id.rpartition(":")[2], request.effort.name
    name = slug(f"advise-{env}-{request.batch}-{effort}-seed{request.seed}")
    identity = {**request.identity(), "from": [one.frozen_policy.fingerprint for one in given]}
    made_by = manifest("advise", identity, request.seed, hardware.describe())
    path = Path(out) if out is not None else Path("runs") / name
    return open_run(path, identity, "advise", manifest=made_by, force=force, inner=inner)


def answer_request(
    request: AdviceRequest,
    folder: Folder,
    *,
    given: Sequence[StageToMeasure] = (),
    own: int | None = None,
    per: str = "both",
    weigh: str = "learning",
    budget: dict[str, Any] | None = None,
    reproduce: str | None = None,
    collector: Collector | None = None,
    carried: Carried | None = None,
    remarks: Sequence[str] = (),
    progress: Progress = lambda what, done, total: None,
) -> Advice:
    """The advice, and its page; whatever the folder already holds is not done again.

    reproduce: what asks all of this again, where that is no command line. collector: who collects
    the chains of host envs; without, this process. carried: the user's settings in the words of
    their library. remarks: warnings about the question.
    """
    _require_word("per", per, ("sample", "second", "both"))
    _require_word("weigh", weigh, ("learning", "samples"))
    parts = _Parts(progress, _count_parts(request, len(given)))
    with at_work(folder.path):
        costs = None if per == "sample" else _costs(request, folder, progress)
        parts.done()
        targets = given or train_stages(request, folder, progress)
        targets = [collected_by(collector, target) for target in targets]
        parts.done()
        finding = _find(request, targets, folder, costs, weigh, progress, parts.done)
        closer = _closer_looks(finding, folder, progress, parts.done)
        progress(OVERALL, parts.total, parts.total)
        data = {
            **advice_data(
                finding, own=own, closer=closer, per=per, carried=carried, remarks=remarks
            ),
            "budget": budget,
            "machine": {"device": hardware.describe(), "platform": platform.platform()},
            "versions": versions(),
            "reproduce": reproduce or command_line(request, given, per=per, weigh=weigh),
            "out": str(folder.path),
            "report": str(folder.path / PAGE.name),
        }
        folder.write(ADVICE, data)
        # As it is read back: the page is then the same as `nbyt report` makes.
        write_page(plain(folder.require(ADVICE)), folder.path / PAGE.name)
    return Advice(data)


def _find(
    request: AdviceRequest,
    targets: Sequence[StageToMeasure],
    folder: Folder,
    costs: Costs | None,
    weigh: str,
    progress: Progress,
    done: Callable[[], None],
) -> AdviceInputs:
    """Measure the stages, with more chains where the usual number tells no two layouts apart."""
    measured = measure(request, targets, folder, progress, done)
    finding = AdviceInputs(request, measured, costs, weigh)
    # An interrupted run has decided already: what it left is a mixture, and must not decide anew.
    decided = any(one.data["pool"]["chains"] > request.effort.chains for one in measured)
    if decided or _wants_more(finding):
        more = measure(request, targets, folder, progress, times=request.effort.more)
        finding = AdviceInputs(request, more, costs, weigh)
    return finding


def command_line(
    request: AdviceRequest, given: Sequence[StageToMeasure], *, per: str, weigh: str
) -> str:
    """The command that asks all of this again."""
    words = [request.command()]
    words += [f"--per {per}"] if per != "both" else []
    words += [f"--weigh {weigh}"] if weigh != "learning" else []
    paths = [shlex.quote(one.source) for one in given if one.source]
    return " ".join([*words, "--from", *paths] if paths else words)


def _require_word(name: str, word: str, known: tuple[str, ...]) -> None:
    if word not in known:
        raise UsageError(f"{name} is '{word}'", where=name, fix=f"one of: {', '.join(known)}")


def _wants_more(finding: AdviceInputs) -> bool:
    """Whether nothing is told apart yet, and more chains cost no env of the user's any time."""
    request = finding.request
    quick = not isinstance(request.env, HostEnv)
    return quick and request.effort.more > 1 and finding.answers()[0].open


def scout(
    ask: Callable[[int], AdviceRequest],
    budget: Budget,
    out: Path | None,
    collector: Collector | None = None,
    progress: Progress = lambda what, done, total: None,
) -> dict[str, Any]:
    """The batch to use for a budget, measured with little effort at one batch.

    ask: the request for a batch of so many samples. The scout has a folder of its own, beside
    that of the advice.
    """
    request = ask(SCOUT)
    scout = None if out is None else out.with_name(f"{out.name}-scout")
    name = slug(f"scout-{request.env.id.partition(':')[2]}-seed{request.seed}")
    path = resolved_entry(scout or Path("runs") / name)
    folder = open_folder(request, [], path, force=False, inner=True)
    with at_work(folder.path):
        known = folder.read(COSTS)
        costs = costs_from(known) if known is not None else _scout_costs(request, progress)
        folder.write(COSTS, costs.as_dict())
        targets = train_stages(request, folder, progress)
        targets = [collected_by(collector, target) for target in targets]
        finding = AdviceInputs(request, measure(request, targets, folder, progress), costs)
    stages = [
        finding.evidence(one, weight)
        for one, weight in zip(finding.measured, finding.weights(), strict=True)
    ]
    return propose(budget, request, stages, costs)


def _scout_costs(request: AdviceRequest, progress: Progress) -> Costs:
    """Costs timed at the corners: the smallest and the largest batch, short and long T."""
    layouts = candidates(request)
    sizes = [min(one.batch for one in layouts), max(one.batch for one in layouts)]
    corners = []
    for size in sizes:
        own = sorted((one for one in layouts if one.batch == size), key=lambda one: one.steps)
        corners += [own[0], own[-1]]
    env, settings = request.env, request.settings
    return measure_costs(env, settings, corners, vector=request.vector, progress=progress)


@dataclass
class _Parts:
    """How many parts of the work are done, said after each."""

    progress: Progress
    total: int
    finished: int = 0

    def done(self) -> None:
        """One more."""
        self.finished += 1
        self.progress(OVERALL, self.finished, self.total)


def _count_parts(request: AdviceRequest, given: int) -> int:
    stages = given or request.stages * len(request.trained)
    return 2 + stages + {"none": 0, "one": 1, "all": stages}[request.effort.looks]


def _costs(request: AdviceRequest, folder: Folder, progress: Progress) -> Costs:
    known = folder.read(COSTS)
    if known is not None:
        return costs_from(known)
    layouts = [request.layout(steps) for steps in request.steps]
    costs = measure_costs(
        request.env,
        request.settings,
        layouts,
        trained=request.trained[0],
        vector=request.vector,
        progress=progress,
    )
    folder.write(COSTS, costs.as_dict())
    return costs


def _closer_looks(
    finding: AdviceInputs, folder: Folder, progress: Progress, done: Callable[[], None]
) -> dict[str, dict[str, Any]]:
    """Looks around the advised layout: at the stage that decides, or at all of them."""
    looks = finding.request.effort.looks
    chosen = {"none": [], "one": [deciding_stage(finding)], "all": finding.measured}[looks]
    best = finding.answers()[0].best.steps
    found = {}
    for measured in chosen:
        number = finding.measured.index(measured) + 1
        known = folder.read(LOOK, number, best)
        if known is None:
            data = diagnose_stage(finding.request, measured, best, progress)
            folder.write(LOOK, data, number, best)
        else:
            data = plain(known)
        found[measured.target.name] = data
        done()
    return found
