"""Doing a study: every experiment once, then verdicts and the page, all from what is kept."""

import platform
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from nbyt.advice.run import OVERALL
from nbyt.errors import StoreError
from nbyt.report.pages.study import write_study_page
from nbyt.results import plain
from nbyt.rng import require_seed
from nbyt.store.files import EXPERIMENT, PAGE, STUDY
from nbyt.store.formats import shown
from nbyt.store.manifest import manifest, versions
from nbyt.store.paths import at_work
from nbyt.store.run import Folder, open_run
from nbyt.train import hardware
from nbyt_studies.bench import Bench, Progress
from nbyt_studies.study import RULE, Claim, Study, judged
from nbyt_studies.workers import done_side_by_side


@dataclass(frozen=True)
class Reproduction:
    """What a study found: `data` is what --json prints."""

    data: dict[str, Any] = field(repr=False)

    @property
    def verdicts(self) -> dict[str, str]:
        """The verdict on each claim, by its id."""
        return {claim["id"]: claim["verdict"] for claim in self.data["claims"]}

    @property
    def report(self) -> Path:
        """The page."""
        return Path(self.data["report"])


def open_study(
    study: Study, out: Path | str | None, *, quick: bool, seed: int, force: bool = False
) -> Folder:
    """The folder of a study, new or resumed; another study's folder is refused."""
    identity = {"study": study.name, "effort": _effort(quick), "seed": require_seed(seed)}
    made_by = manifest("reproduce", identity, seed, hardware.describe())
    path = Path(out) if out is not None else Path("runs") / f"{study.name}-{_effort(quick)}-{seed}"
    return open_run(path, identity, "reproduce", manifest=made_by, force=force)


def reproduce(
    study: Study,
    folder: Folder,
    *,
    quick: bool = False,
    seed: int = 0,
    workers: int = 1,
    device: str = "auto",
    progress: Progress = lambda what, done, total: None,
) -> Reproduction:
    """Every claim with its verdict; what the folder already holds is not done again.

    workers: experiments at once, each in a process of its own; 1 does all of them in this one.
    """
    with at_work(folder.path):
        bench = Bench(folder, seed, quick, progress)
        experiments = [one.name for one in study.experiments]
        there = {name for name in experiments if folder.read(EXPERIMENT, name) is not None}
        done = 0
        for name in _done(study, bench, workers, device):
            done += bool(name)
            progress(OVERALL, done, len(experiments))
        return _judge(study, folder, there, quick=quick, seed=seed)


def _judge(
    study: Study, folder: Folder, there: set[str], *, quick: bool, seed: int
) -> Reproduction:
    """Judge the claims by what the experiments found, and write data and page.

    there: names of experiments that were not done now, but found in the folder.
    """
    results = {}
    for experiment in study.experiments:
        known = folder.read(EXPERIMENT, experiment.name)
        assert known is not None, "every experiment was done"
        results[experiment.name] = known
    data = {
        "study": study.name,
        "title": study.title,
        "lead": study.lead,
        "rule": RULE,
        "effort": _effort(quick),
        "seed": seed,
        "claims": [_judged(claim, results, folder, there) for claim in study.claims],
        "machine": {"device": hardware.describe(), "platform": platform.platform()},
        "versions": versions(),
        "reproduce": command_line(study, quick=quick, seed=seed),
        "out": str(folder.path),
        "report": str(folder.path / PAGE.name),
    }
    folder.write(STUDY, data)
    # As it is read back: the page is then the same as `nbyt report` makes.
    write_study_page(plain(folder.require(STUDY)), folder.path / PAGE.name)
    return Reproduction(data)


def _judged(
    claim: Claim, results: dict[str, dict[str, Any]], folder: Folder, there: set[str]
) -> dict[str, Any]:
    """Judge a claim. there: experiments that were done before, so anybody may have written them."""
    try:
        return judged(claim, results)
    except (ArithmeticError, AttributeError, LookupError, TypeError, ValueError) as error:
        files = [f"experiment-{name}.json" for name in claim.needs if name in there]
        if not files:
            raise
        raise StoreError(
            f"{' or '.join(files)} is not what nbyt writes: the claim '{claim.id}' cannot be "
            f"judged by it: {shown(repr(error))}",
            where=str(folder.path),
            fix="delete it and give the same command again",
        ) from error


def _done(study: Study, bench: Bench, workers: int, device: str) -> Iterator[str]:
    """The name of every experiment that there is data of; now and then an empty one."""
    yield ""
    known = [
        one for one in study.experiments if bench.folder.read(EXPERIMENT, one.name) is not None
    ]
    yield from (one.name for one in known)
    left = [one for one in study.experiments if one not in known]
    together = [one for one in left if not one.alone] if workers > 1 else []
    if together:
        yield from done_side_by_side(
            together,
            bench.folder,
            quick=bench.quick,
            seed=bench.seed,
            workers=min(workers, len(together)),
            device=device,
            progress=bench.progress,
        )
    for one in left:
        if one not in together:
            bench.folder.write(EXPERIMENT, one.run(bench.named(one.words)), one.name)
            yield one.name


def command_line(study: Study, *, quick: bool, seed: int) -> str:
    """The command that does all of this again."""
    words = ["nbyt reproduce", study.name, "--quick" if quick else "", f"--seed {seed}"]
    return " ".join(filter(None, words))


def _effort(quick: bool) -> str:
    return "quick" if quick else "full"
