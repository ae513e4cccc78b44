"""A study: experiments that return plain data, and claims that are judged by it."""

import platform
import re
import statistics
import tomllib
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache
from importlib.resources import files
from itertools import chain
from pathlib import Path
from typing import Any

from nbyt.advice.request import OVERALL
from nbyt.collect import Progress
from nbyt.errors import StoreError
from nbyt.numbers import SEED
from nbyt.report.pages.study import study_page
from nbyt.results import plain
from nbyt.results.study import AnyFigure, Figures
from nbyt.results.values import Data
from nbyt.store.files import EXPERIMENT, PAGE, STUDY
from nbyt.store.formats import shown
from nbyt.store.manifest import manifest, versions
from nbyt.store.paths import at_work
from nbyt.store.run import Folder, open_run
from nbyt.training import hardware
from nbyt_studies.experiment import Context, Experiment, run_in_workers
from nbyt_studies.verdict import (
    IDENTITY,
    RULE,
    Check,
    Number,
    Part,
    Verdict,
    judge_apart,
    judge_identity,
    parts_of,
    settled_by,
)

Results = Mapping[str, Data]  # by the name of the experiment


def _nothing(results: Results) -> list[Any]:
    return []


@dataclass(frozen=True)
class Claim:
    """A statement, how it was measured, and the checks that decide on it.

    id: short words with hyphens. topic: the section of the text, its heading on the page. says:
    the statement, in our own words. measured: the experiment, in a sentence. asks, contradicts:
    what would confirm and what would contradict it. kind: identity, measurement or recommendation.
    apart: properties of a check's case by which checks are judged apart. checks, figures, notes:
    functions of the experiments' data alone, which they do not change.
    """

    id: str
    topic: str
    says: str
    measured: str
    asks: str
    needs: tuple[str, ...]
    checks: Callable[[Results], list[Check]]
    figures: Callable[[Results], Figures] = field(default=_nothing)
    notes: Callable[[Results], list[str]] = field(default=_nothing)
    contradicts: str = ""
    kind: str = "measurement"
    apart: tuple[str, ...] = ()

    def judged(self, results: Results) -> Data:
        """Return the claim with its verdict, as plain data for JSON and for the page."""
        checks = self.checks(results)
        parts = parts_of(checks, self.apart)
        verdict = judge_identity(checks) if self.kind == IDENTITY else judge_apart(parts)
        return {
            "id": self.id,
            "topic": self.topic,
            "kind": self.kind,
            "claim": self.says,
            "measured": self.measured,
            "asks": self.asks,
            "contradicts": self.contradicts,
            "apart": list(self.apart),
            "verdict": str(verdict),
            "word": verdict.word,
            "when": verdict.when,
            "counts": _counts(verdict),
            "parts": [] if self.kind == IDENTITY else [_part(one) for one in parts],
            "numbers": _numbers(checks),
            "checks": [check.as_dict() for check in checks],
            "notes": self.notes(results),
            "figures": [plain(figure) for figure in self.figures(results)],
        }


def _part(part: Part) -> Data:
    verdict = part.verdict
    undecided = verdict.word == "cannot be told"
    known = [one.number["value"] for one in part.checks if one.number.get("value") is not None]
    same = len({check.quantity for check in part.checks}) == 1
    return {
        "case": part.case,
        "word": verdict.word,
        "when": settled_by(part) if undecided else verdict.when,
        "counts": _counts(verdict),
        # Numbers of different quantities have no range.
        "range": [min(known), statistics.median(known), max(known)] if known and same else None,
    }


def _counts(verdict: Verdict) -> dict[str, int]:
    return {"yes": verdict.yes, "no": verdict.no, "open": verdict.open}


def _numbers(checks: Sequence[Check]) -> dict[str, Number]:
    """Return every check's number by a unique name."""
    numbers: dict[str, Number] = {}
    for check in checks:
        words = " ".join([*check.case.values(), check.quantity]).lower()
        name = re.sub(r"[^a-z0-9.]+", "_", words).strip("_")
        numbers[name if name not in numbers else f"{name}_{len(numbers)}"] = check.number
    return numbers


def by_name(names: str, *groups: tuple[Experiment, ...]) -> tuple[Experiment, ...]:
    """Return all experiments in the order of these names."""
    order = names.split()
    return tuple(sorted(chain(*groups), key=lambda experiment: order.index(experiment.name)))


@dataclass(frozen=True)
class Evidence:
    """What decides on a claim: functions of the experiments' data alone, which they do not change.

    values: what the placeholders in the claim's notes stand for.
    """

    checks: Callable[[Results], list[Check]]
    figures: Callable[[Results], Figures] = _nothing
    values: Callable[[Results], Data] = lambda results: {}


def read_claims(package: str, evidence: Mapping[str, Evidence]) -> tuple[Claim, ...]:
    """Return the claims of the package's `claims.toml` on which there is evidence, in its order."""
    texts = _texts(package)
    order = [name for name in texts if name not in ("shared", "findings")]
    return tuple(
        _claim(id, texts[id], texts["shared"], evidence[id])
        for id in sorted(evidence, key=order.index)
    )


_TEXTS = ("topic", "says", "measured", "asks", "contradicts")


@cache
def _texts(package: str) -> dict[str, Data]:
    return _joined(tomllib.loads((files(package) / "claims.toml").read_text("utf-8")))


def _joined(value: Any) -> Any:
    """Return texts in one line, also those inside of lists and tables."""
    if isinstance(value, dict):
        return {name: _joined(part) for name, part in value.items()}
    return [_joined(part) for part in value] if isinstance(value, list) else " ".join(value.split())


def _claim(id: str, texts: Data, shared: Data, evidence: Evidence) -> Claim:
    words = {name: texts[name].format_map(shared) for name in _TEXTS}
    return Claim(
        id=id,
        **words,
        needs=tuple(texts["needs"]),
        kind=texts["kind"],
        apart=tuple(texts.get("apart", ())),
        checks=evidence.checks,
        figures=evidence.figures,
        notes=lambda results: list(
            _filled(texts.get("notes", []), {**shared, **evidence.values(results)})
        ),
    )


def _filled(notes: Sequence[str], values: Data) -> Iterator[str]:
    """Yield notes with their placeholders filled; a placeholder of a list is several notes."""
    for note in notes:
        several = values.get(note.strip("{}"))
        if isinstance(several, list):
            yield from _filled(several, values)
        else:
            yield note.format_map(values)


@dataclass(frozen=True)
class Highlight:
    """What was found, in a plain sentence and a few more, and its picture.

    title, text: with placeholders. about: ids of the claims that it rests on. values, picture:
    functions of the experiments' data alone.
    """

    title: str
    text: str
    about: tuple[str, ...]
    values: Callable[[Results], Data]
    picture: Callable[[Results], AnyFigure]

    def told(self, results: Results) -> Data:
        """Return the finding as plain data."""
        values = self.values(results)
        return {
            "title": self.title.format_map(values),
            "text": self.text.format_map(values),
            "claims": list(self.about),
            "figure": plain(self.picture(results)),
        }


Picture = tuple[Callable[[Results], Data], Callable[[Results], AnyFigure]]


def read_findings(package: str, pictures: Mapping[str, Picture]) -> tuple[Highlight, ...]:
    """Return the findings of the package's `claims.toml`, in its order."""
    return tuple(
        Highlight(one["title"], one["text"], tuple(one["claims"]), *pictures[name])
        for name, one in _texts(package)["findings"].items()
    )


@dataclass(frozen=True)
class Reproduction:
    """The results of a study; `data` is what --json prints."""

    data: dict[str, Any] = field(repr=False)

    @property
    def verdicts(self) -> dict[str, str]:
        """The verdict on each claim, by its id."""
        return {claim["id"]: claim["verdict"] for claim in self.data["claims"]}

    @property
    def report(self) -> Path:
        """The page."""
        return Path(self.data["report"])


@dataclass(frozen=True)
class Study:
    """What `nbyt reproduce NAME` measures and judges; `nbyt.cli.reproduce` says what it calls.

    cpu_minutes: what the quick study and the full one took on an ordinary core, compiling
    included; worker_gb: memory of a worker at most, in whole gigabytes.
    """

    name: str
    title: str
    lead: str
    experiments: tuple[Experiment, ...]
    claims: tuple[Claim, ...]
    findings: tuple[Highlight, ...] = ()
    cpu_minutes: tuple[int, int] = (1, 1)
    worker_gb: int = 1

    def open_folder(
        self, out: Path | str | None, *, quick: bool, seed: int, force: bool = False
    ) -> Folder:
        """Return the folder of this study, new or resumed; refuse another study's folder."""
        effort = _effort(quick)
        identity = {"study": self.name, "effort": effort, "seed": SEED.check(seed, "seed")}
        made_by = manifest("reproduce", identity, seed, hardware.describe())
        path = Path(out) if out is not None else Path("runs") / f"{self.name}-{effort}-{seed}"
        return open_run(path, identity, "reproduce", manifest=made_by, force=force)

    def command_line(self, *, quick: bool, seed: int) -> str:
        """Return the command that repeats the study."""
        words = ["nbyt reproduce", self.name, "--quick" if quick else "", f"--seed {seed}"]
        return " ".join(filter(None, words))

    def reproduce(
        self,
        folder: Folder,
        *,
        quick: bool = False,
        seed: int = 0,
        workers: int = 1,
        device: str = "auto",
        progress: Progress = lambda what, done, total: None,
    ) -> Reproduction:
        """Run the experiments that the folder does not hold yet, and judge every claim.

        workers: experiments at once, each in a process of its own; 1 runs all of them in this one.
        """
        with at_work(folder.path):
            context = Context(folder, seed, quick, progress)
            names = [experiment.name for experiment in self.experiments]
            known = {name for name in names if folder.read(EXPERIMENT, name) is not None}
            done = 0
            for name in self._run(context, known, workers, device):
                done += bool(name)
                progress(OVERALL, done, len(names))
            return self._judge(context, known)

    def _run(self, context: Context, known: set[str], workers: int, device: str) -> Iterator[str]:
        """Yield the name of every experiment when its data exist, and an empty one now and then."""
        yield ""
        yield from known
        left = [experiment for experiment in self.experiments if experiment.name not in known]
        together = [experiment for experiment in left if not experiment.alone]
        if workers > 1 and together:
            count = min(workers, len(together))
            yield from run_in_workers(together, context, workers=count, device=device)
            left = [experiment for experiment in left if experiment.alone]
        for experiment in left:
            data = experiment.run(context.named(experiment.words))
            context.folder.write(EXPERIMENT, data, experiment.name)
            yield experiment.name

    def _judge(self, context: Context, known: set[str]) -> Reproduction:
        """Judge the claims by the experiments' data, and write the results and the page.

        known: names of experiments that were in the folder before.
        """
        folder, results = context.folder, {}
        for experiment in self.experiments:
            data = folder.read(EXPERIMENT, experiment.name)
            assert data is not None, "every experiment was run"
            results[experiment.name] = data
        study = {
            "study": self.name,
            "title": self.title,
            "lead": self.lead,
            "rule": RULE,
            "effort": _effort(context.quick),
            "seed": context.seed,
            "claims": [_judged(claim, results, folder, known) for claim in self.claims],
            "findings": [one.told(results) for one in self.findings],
            "machine": {"device": hardware.describe(), "platform": platform.platform()},
            "versions": versions(),
            "reproduce": self.command_line(quick=context.quick, seed=context.seed),
            "out": str(folder.path),
            "report": str(folder.path / PAGE.name),
        }
        folder.write(STUDY, study)
        # As it is read back: the page is then the same as `nbyt report` makes.
        study_page(folder.require(STUDY)).write(folder.path / PAGE.name)
        return Reproduction(study)


def _judged(claim: Claim, results: Results, folder: Folder, known: set[str]) -> Data:
    """Judge a claim. known: experiments that were run before, so anybody may have written them."""
    try:
        return claim.judged(results)
    except (ArithmeticError, AttributeError, LookupError, TypeError, ValueError) as error:
        files = [f"experiment-{name}.json" for name in claim.needs if name in known]
        if not files:
            raise
        raise StoreError(
            f"{' or '.join(files)} is not what nbyt writes: the claim '{claim.id}' cannot be "
            f"judged by it: {shown(repr(error))}",
            where=str(folder.path),
            fix="delete it and give the same command again",
        ) from error


def _effort(quick: bool) -> str:
    return "quick" if quick else "full"
