"""nbyt.advise: train, measure, time and rank; every part is saved as soon as it is done."""

import platform
import shlex
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from nbyt.advice.assemble import AdviceInputs, advice_data
from nbyt.train.costs import Costs, costs_from, measure_costs
from nbyt.advice.estimate import startable
from nbyt.advice.request import HOST_ENVS, OVERALL, AdviceRequest, make_advice_request
from nbyt.advice.request import effort as effort_named
from nbyt.advice.stages import (
    StageToMeasure,
    collected_by,
    diagnose_stage,
    given_stages,
    measure,
    open_folder,
    train_stages,
)
from nbyt.dialects.carrying import Carried
from nbyt.envs import HostEnv, resolve
from nbyt.errors import UsageError
from nbyt.measure.frozen_policy import Collector
from nbyt.measure.request import Progress
from nbyt.numbers import SIZE, SPLIT, require
from nbyt.policy.actor_critic import Stage
from nbyt.report.tables.advice import answer_lines, answers_shown
from nbyt.results import Advice as AdviceRecord
from nbyt.results import plain
from nbyt.results.values import Data
from nbyt.store.files import ADVICE, COSTS, LOOK, PAGE
from nbyt.store.manifest import versions
from nbyt.store.paths import at_work
from nbyt.store.run import Folder
from nbyt.train import hardware
from nbyt.train.plan import PPOSettings


@dataclass(frozen=True, repr=False)
class Advice:
    """The layouts advised by `nbyt.advise`; `print` shows the answer and what it cost.

    Notebooks show a card. The page with all charts is at `report`.

    Attributes
    ----------
    data
        Everything that `nbyt advise --json` prints.
    record
        The same as types.
    """

    data: Data
    record: AdviceRecord

    @property
    def per_sample(self) -> Data:
        """Return the best layout for the same samples: envs, steps, ties, sentence, ranking."""
        return self.data["advice"]["per_sample"]

    @property
    def per_second(self) -> Data | None:
        """Return the best layout for the same time on this machine; None if not timed."""
        return self.data["advice"]["per_second"]

    @property
    def report(self) -> Path:
        """Return the path of the page."""
        return Path(self.data["report"])

    def as_dict(self) -> Data:
        """Return the data of the JSON output."""
        return self.data

    def __str__(self) -> str:
        stages = self.data["stages"]
        samples = sum(stage["pool"]["samples"] for stage in stages)
        cost = f"cost: {samples:,} env steps to measure {len(stages)} frozen policies"
        return "\n".join([*answer_lines(self.record), cost])

    def __repr__(self) -> str:
        best = {kind: self.data["advice"][kind] for kind in answers_shown(self.record)}
        words = [f"{kind}={one['envs']}x{one['steps']}" for kind, one in best.items()]
        return f"Advice({self.data['env']!r}, batch={self.data['batch']}, {', '.join(words)})"

    def _repr_html_(self) -> str:
        from nbyt.report.pages.advice import card

        return card(self.record)


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
    """Advise on how many envs N and rollout steps T to split a batch into.

    Trains PPO on the env, measures the gradient of a few of its policies under every layout N x T
    of the batch, times updates, and ranks the layouts.

    Parameters
    ----------
    env
        A name such as "CartPole-v1" or "gym:Ant-v5", or a function that makes an env.
    batch
        Samples of a batch, N x T.
    effort
        "quick", "normal" or "thorough".
    stages_from
        Frozen policies to measure instead of training some: stages, or folders of stages or runs.
    current
        Your own (envs, steps), to learn whether a change is worth it.
    per
        Compare for the same samples ("sample"), for the same time ("second"), or "both".
    weigh
        Weigh stages by what was left to learn ("learning") or by their samples ("samples").
    out
        Folder of the advice. The same call continues what is there; by default a folder in `runs`.
    force
        Clear another advice from that folder.
    progress
        Called with the name of a part, how much of it is done, and its total.
    settings
        Settings of PPO.
    options
        Other arguments of `make_advice_request`: seed, total, steps, stages, lambdas, max_envs,
        minibatch, epochs, objective, vector, memory.

    Returns
    -------
    Advice
        The best layouts, how sure that is, and why.

    Examples
    --------
    >>> import tempfile
    >>> import nbyt
    >>> with tempfile.TemporaryDirectory() as out:
    ...     small = {"steps": [4, 16], "stages": 1, "total": 256, "per": "sample", "out": out}
    ...     advice = nbyt.advise("FrozenLake-v1", batch=64, effort="quick", **small)
    >>> advice.per_sample["envs"] * advice.per_sample["steps"]
    64
    >>> print(advice)  # doctest: +ELLIPSIS
    per sample: ...
    cost: ... env steps to measure 1 frozen policies
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
    own: int | None = None,
    per: str = "both",
    weigh: str = "learning",
    budget: Data | None = None,
    reproduce: str | None = None,
    collector: Collector | None = None,
    carried: Carried | None = None,
    remarks: Sequence[str] = (),
    progress: Progress = lambda what, done, total: None,
) -> Advice:
    """Make the advice and its page; what the folder already holds is not done again.

    own: T of the user's layout. reproduce: the call that asks the same, instead of a command
    line. collector: collects the chains of host envs; by default this process. carried: the user's
    settings in the words of their library. remarks: warnings about the request.
    """
    _require_word("per", per, ("sample", "second", "both"))
    _require_word("weigh", weigh, ("learning", "samples"))
    parts = _Parts(progress, _count_parts(request, len(given)))
    with at_work(folder.path):
        costs = None if per == "sample" else _costs(request, folder, progress)
        parts.done()
        stages = given or train_stages(request, folder, progress)
        stages = [collected_by(collector, stage) for stage in stages]
        parts.done()
        finding = _measure(request, stages, folder, costs, weigh, progress, parts.done)
        closer = _diagnose(finding, folder, progress, parts.done)
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
        record = folder.require(ADVICE)
        from nbyt.report.pages.advice import advice_page  # the last part of the work

        advice_page(record).write(folder.path / PAGE.name)
    return Advice(data, record)


def _measure(
    request: AdviceRequest,
    stages: Sequence[StageToMeasure],
    folder: Folder,
    costs: Costs | None,
    weigh: str,
    progress: Progress,
    done: Callable[[], None],
) -> AdviceInputs:
    """Measure the stages, with more chains where all layouts tie."""
    measured = measure(request, stages, folder, progress, done)
    finding = AdviceInputs(request, measured, costs, weigh)
    # An interrupted run has decided already; its mixture of few and many chains must not.
    decided = any(each.record.pool.chains > request.effort.chains for each in measured)
    if decided or _wants_more(finding):
        more = measure(request, stages, folder, progress, times=request.effort.more)
        finding = AdviceInputs(request, more, costs, weigh)
    return finding


def command_line(
    request: AdviceRequest, given: Sequence[StageToMeasure], *, per: str, weigh: str
) -> str:
    """Return the command that asks the same again."""
    words = [request.command()]
    words += [f"--per {per}"] if per != "both" else []
    words += [f"--weigh {weigh}"] if weigh != "learning" else []
    paths = [shlex.quote(each.source) for each in given if each.source]
    return " ".join([*words, "--from", *paths] if paths else words)


def _require_word(name: str, word: str, known: tuple[str, ...]) -> None:
    if word not in known:
        raise UsageError(f"{name} is '{word}'", where=name, fix=f"one of: {', '.join(known)}")


def _wants_more(finding: AdviceInputs) -> bool:
    """Return True if all layouts tie and extra chains are cheap (device envs)."""
    cheap = not isinstance(finding.request.env, HostEnv)
    return cheap and finding.request.effort.more > 1 and finding.answers()[0].open


@dataclass
class _Parts:
    """Progress of the whole work, in parts."""

    progress: Progress
    total: int
    finished: int = 0

    def done(self) -> None:
        self.finished += 1
        self.progress(OVERALL, self.finished, self.total)


def _count_parts(request: AdviceRequest, given: int) -> int:
    stages = given or request.stages * len(request.trained)
    return 2 + stages + {"none": 0, "one": 1, "all": stages}[request.effort.diagnosed]


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


def _diagnose(
    finding: AdviceInputs, folder: Folder, progress: Progress, done: Callable[[], None]
) -> dict[str, Data]:
    """Diagnose the stage that decides, or all of them, around the advised layout."""
    diagnosed = finding.request.effort.diagnosed
    if diagnosed == "none":
        return {}
    chosen = finding.measured if diagnosed == "all" else [finding.deciding()]
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
        found[measured.stage.name] = data
        done()
    return found
