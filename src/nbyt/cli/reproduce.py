"""`nbyt reproduce`: measure a study's claims one by one, each with its verdict."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from importlib.metadata import entry_points
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal, Protocol

from cyclopts import Parameter

from nbyt.cli.output import Common, Outcome, facts_table, show, talk
from nbyt.errors import RunInterruptedError
from nbyt.numbers import Seed, WorkerCount
from nbyt.progress import watched
from nbyt.report.tables.study import claim_table
from nbyt.store.files import STUDY
from nbyt.store.run import Folder
from nbyt.system import usable_cores
from nbyt.training import hardware

GROUP = "nbyt.studies"
_MOST_WORKERS = 4


class _Named(Protocol):
    name: str
    words: str


class _Identified(Protocol):
    id: str


class _Reproduction(Protocol):
    data: dict[str, Any]

    @property
    def report(self) -> Path: ...


class Study(Protocol):
    """What an entry point of the group `nbyt.studies` refers to; `nbyt_studies.study` has one."""

    name: str
    experiments: Sequence[_Named]
    claims: Sequence[_Identified]
    cpu_minutes: tuple[int, int]
    worker_gb: int
    open_folder: Callable[..., Folder]
    command_line: Callable[..., str]
    reproduce: Callable[..., _Reproduction]


def find_study(name: str) -> Study:
    """Return the study of that name from the entry points of installed packages."""
    (study,) = entry_points(group=GROUP, name=name)
    return study.load()


if TYPE_CHECKING:
    StudyName = str
else:
    StudyName = Literal[tuple(sorted(entry_points(group=GROUP).names))]


@dataclass(frozen=True)
class ReproduceOptions:
    """How much to run, and where to keep it."""

    quick: bool = False
    """A first look: fewer seeds, shorter trainings, wider intervals."""

    seed: Seed = 0
    """Seed of all randomness."""

    out: Path | None = None
    """Folder of the study; giving the same command again goes on."""

    force: bool = False
    """Clear another study from that folder."""

    workers: WorkerCount | None = None
    """Experiments at once, each in a process of its own; without, one for each core, 4 at most."""

    device: Literal["auto", "cpu", "gpu", "tpu"] = "auto"
    """Where JAX computes."""

    dry_run: bool = False
    """Say what would be done, and stop."""


def run(
    study: StudyName,
    *,
    options: Annotated[ReproduceOptions, Parameter(name="*")] = ReproduceOptions(),
    common: Annotated[Common, Parameter(name="*")] = Common(),
) -> Outcome:
    """Measure what a text claims, claim by claim, and say which hold.

    Parameters
    ----------
    study
        post: parallel environments and rollout steps in PPO. replay: mini-batches and experience
        replay.
    """
    chosen = find_study(study)
    if options.dry_run:
        return _dry_run(chosen, options, as_json=common.json)
    hardware.prepare(options.device, quiet=common.quiet)
    quick, seed = options.quick, options.seed
    folder = chosen.open_folder(options.out, quick=quick, seed=seed, force=options.force)
    reproduction = _reproduce(chosen, folder, options, quiet=common.quiet)
    if not common.json:
        claims = folder.require(STUDY).claims
        show(claim_table(claims), "", f"report: {reproduction.report}")
    return Outcome(reproduction.data)


def _reproduce(
    study: Study, folder: Folder, options: ReproduceOptions, *, quiet: bool
) -> _Reproduction:
    quick, seed = options.quick, options.seed
    console = talk(quiet=quiet)
    again = f"{study.command_line(quick=quick, seed=seed)} --out {folder.path}"
    console.print(again)
    workers = options.workers or _default_workers()
    try:
        with watched(console, workers) as progress:
            return study.reproduce(
                folder,
                quick=quick,
                seed=seed,
                workers=workers,
                device=options.device,
                progress=progress,
            )
    except (KeyboardInterrupt, RunInterruptedError) as error:
        message = "what was trained and measured so far is saved"
        fix = f"give the same command again to go on: {again}"
        raise RunInterruptedError(message, where=str(folder.path), fix=fix) from error


def _default_workers() -> int:
    return min(_MOST_WORKERS, usable_cores())


def _dry_run(study: Study, options: ReproduceOptions, *, as_json: bool) -> Outcome:
    workers = options.workers or _default_workers()
    quick, full = study.cpu_minutes
    data = {
        "study": study.name,
        "experiments": [experiment.name for experiment in study.experiments],
        "claims": [claim.id for claim in study.claims],
        "workers": workers,
        "minutes": round((quick if options.quick else full) / workers),
        "memory_gb": study.worker_gb * workers,
    }
    if not as_json:
        rows = [(experiment.name, experiment.words) for experiment in study.experiments]
        show(facts_table(rows), "")
        cost = f"about {data['minutes']} minutes and {data['memory_gb']} GB with {workers} workers"
        show(f"{len(study.claims)} claims; {cost}, where programs must be compiled first")
    return Outcome(data)
