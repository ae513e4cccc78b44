"""nbyt.load: the stored result of an earlier call or command, without doing anything again."""

from dataclasses import dataclass
from pathlib import Path
from typing import Any

from nbyt.advice.result import Advice
from nbyt.api.calling import public
from nbyt.api.training import Training
from nbyt.dialects.describing import Facts, table, text
from nbyt.errors import StoreError
from nbyt.frames import frame
from nbyt.plotly_figure import plotly_figure
from nbyt.report.pages.measurement import measurement_chart
from nbyt.report.tables.probes import verdict
from nbyt.results import Measurement, ProbedTraining, Study, plain
from nbyt.results.measurement import MeasuredLayout
from nbyt.results.values import OBJECTIVES
from nbyt.store.files import ADVICE, MEASURED, PROBES, RESULT, STUDY, SWEEP
from nbyt.store.paths import resolved
from nbyt.store.run import Folder, read_probes
from nbyt.sweeps.run import Sweep


@dataclass(frozen=True, repr=False)
class StoredMeasurement:
    """A measurement that `nbyt probe --out` has kept.

    Attributes
    ----------
    record
        Everything that `nbyt probe --json` prints, as types.
    """

    record: Measurement

    @property
    def layouts(self) -> tuple[MeasuredLayout, ...]:
        """Return every layout that was measured, with its three gradients."""
        return self.record.layouts

    def to_frame(self) -> Any:
        """Return a table of pandas with a row for each layout and lambda."""
        return frame(plain(self.record)["layouts"])

    def plot(self) -> Any:
        """Return alignment, bias and noise of the actor's gradient over T, a figure of Plotly."""
        return plotly_figure(measurement_chart(self.record))

    def _rows(self) -> Facts:
        found = [verdict(self.record, objective).split(": ", 1) for objective in OBJECTIVES]
        return [(objective, words) for objective, words in found]

    def _title(self) -> str:
        return f"{self.record.env}, batch {self.record.batch:,}"

    def __str__(self) -> str:
        return text(self._title(), self._rows())

    __repr__ = __str__

    def _repr_html_(self) -> str:
        return table(self._title(), self._rows())


Stored = Advice | Sweep | Training | StoredMeasurement | ProbedTraining | Study


@public
def load(folder: Path | str) -> Stored:
    """Load what `nbyt advise`, `sweep`, `train`, `probe`, `reproduce` or a callback has kept.

    Parameters
    ----------
    folder
        The folder, as given to `out`.

    Returns
    -------
    Advice, Sweep, Training, StoredMeasurement, ProbedTraining or Study
        What the call returned that wrote it; of a probe, a training's probes and a study what
        their pages show, as types.
    """
    found = Folder(resolved(Path(folder), "folder"))
    if found.has(ADVICE):
        return Advice(found.require(ADVICE))
    if found.has(SWEEP):
        return Sweep(found.require(SWEEP))
    if found.has(PROBES):
        return read_probes(found.path)
    if found.has(RESULT):
        return Training.read(found)
    if found.has(STUDY):
        return found.require(STUDY)
    if found.has(MEASURED):
        return StoredMeasurement(found.require(MEASURED))
    message = f"{found.path} holds no finished advice, sweep, training, measurement or study"
    fix = "name the folder that was given to --out"
    raise StoreError(message, where="folder", fix=fix)
