"""Doing a study: every experiment once, then verdicts and the page, all from what is kept."""

import platform
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from nbyt.report.study import write_study_page
from nbyt.store.manifest import manifest, versions
from nbyt.store.run import open_as
from nbyt.store.study import PAGE, StudyFolder, read_study
from nbyt.studies.bench import Bench, Progress
from nbyt.studies.study import Study, judged
from nbyt.studies.verdict import RULE
from nbyt.train import hardware
from nbyt.workflow.advising import OVERALL


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
) -> StudyFolder:
    """The folder of a study, new or resumed; another study's folder is refused."""
    identity = {"study": study.name, "effort": _effort(quick), "seed": seed}
    made_by = manifest("reproduce", identity, seed, hardware.describe())
    path = Path(out) if out is not None else Path("runs") / f"{study.name}-{_effort(quick)}-{seed}"
    return open_as(StudyFolder, path, identity, manifest=made_by, force=force)


def reproduce(
    study: Study,
    folder: StudyFolder,
    *,
    quick: bool = False,
    seed: int = 0,
    progress: Progress = lambda what, done, total: None,
) -> Reproduction:
    """Every claim with its verdict; what the folder already holds is not done again."""
    results = {}
    total = len(study.experiments)
    for number, experiment in enumerate(study.experiments):
        progress(OVERALL, number, total)
        known = folder.load_experiment(experiment.name)
        if known is None:
            bench = Bench(folder, seed, quick, _named(progress, experiment.words))
            folder.save_experiment(experiment.name, experiment.run(bench))
            known = folder.load_experiment(experiment.name)
        assert known is not None, "it was just written"
        results[experiment.name] = known
    progress(OVERALL, total, total)
    data = {
        "study": study.name,
        "title": study.title,
        "lead": study.lead,
        "rule": RULE,
        "effort": _effort(quick),
        "seed": seed,
        "claims": [judged(claim, results) for claim in study.claims],
        "machine": {"device": hardware.describe(), "platform": platform.platform()},
        "versions": versions(),
        "reproduce": command_line(study, quick=quick, seed=seed),
        "out": str(folder.path),
        "report": str(folder.path / PAGE),
    }
    folder.write_study(data)
    # As it is read back: the page is then the same as `nbyt report` makes.
    write_study_page(read_study(folder.path), folder.path / PAGE)
    return Reproduction(data)


def command_line(study: Study, *, quick: bool, seed: int) -> str:
    """The command that does all of this again."""
    words = ["nbyt reproduce", study.name, "--quick" if quick else "", f"--seed {seed}"]
    return " ".join(filter(None, words))


def _effort(quick: bool) -> str:
    return "quick" if quick else "full"


def _named(progress: Progress, words: str) -> Callable[[str, int, int], None]:
    return lambda what, done, total: progress(f"{words}: {what}", done, total)
