"""`nbyt reproduce`: a study's claims, measured one by one, each with its verdict."""

from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Literal

from cyclopts import Parameter

from nbyt.cli.output import Common, Outcome, facts_table, show, talk
from nbyt.cli.progress import watched
from nbyt.errors import RunInterruptedError
from nbyt.numbers import Seed, WorkerCount
from nbyt.report.tables.study import claim_table
from nbyt.store.study import StudyFolder
from nbyt.system import usable_cores
from nbyt.train import hardware
from nbyt_studies.post.study import POST
from nbyt_studies.replay.study import REPLAY
from nbyt_studies.reproducing import Reproduction, command_line, open_study, reproduce
from nbyt_studies.study import Study

_MOST_WORKERS = 4
_STUDIES = {study.name: study for study in (POST, REPLAY)}


@dataclass(frozen=True)
class ReproduceOptions:
    """How much is done, and where it is kept."""

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
    study: Literal["post", "replay"],
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
    chosen = _STUDIES[study]
    if options.dry_run:
        return _dry_run(chosen, options, as_json=common.json)
    hardware.prepare(options.device, quiet=common.quiet)
    quick, seed = options.quick, options.seed
    folder = open_study(chosen, options.out, quick=quick, seed=seed, force=options.force)
    found = _reproduce(chosen, folder, options, quiet=common.quiet)
    if not common.json:
        show(claim_table(found.data), "", f"report: {found.report}")
    return Outcome(found.data)


def _reproduce(
    study: Study, folder: StudyFolder, options: ReproduceOptions, *, quiet: bool
) -> Reproduction:
    quick, seed = options.quick, options.seed
    console = talk(quiet=quiet)
    again = f"{command_line(study, quick=quick, seed=seed)} --out {folder.path}"
    console.print(again)
    workers = _workers(options.workers)
    try:
        with watched(console, workers) as progress:
            return reproduce(
                study,
                folder,
                quick=quick,
                seed=seed,
                workers=workers,
                device=options.device,
                progress=progress,
            )
    except (KeyboardInterrupt, RunInterruptedError) as error:
        raise RunInterruptedError(
            "what was trained and measured so far is saved",
            where=str(folder.path),
            fix=f"give the same command again to go on: {again}",
        ) from error


def _workers(wanted: int | None) -> int:
    """So many as the user says, or one for each core."""
    return wanted or min(_MOST_WORKERS, usable_cores())


def _dry_run(study: Study, options: ReproduceOptions, *, as_json: bool) -> Outcome:
    workers = _workers(options.workers)
    quick, full = study.cpu_minutes
    data = {
        "study": study.name,
        "experiments": [one.name for one in study.experiments],
        "claims": [one.id for one in study.claims],
        "workers": workers,
        "minutes": round((quick if options.quick else full) / workers),
        "memory_gb": study.worker_gb * workers,
    }
    if not as_json:
        show(facts_table([(one.name, one.words) for one in study.experiments]), "")
        cost = f"about {data['minutes']} minutes and {data['memory_gb']} GB with {workers} workers"
        show(f"{len(study.claims)} claims; {cost}, where programs must be compiled first")
    return Outcome(data)
