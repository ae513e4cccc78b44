"""Advice: the answer of `nbyt.advise`, as Python and notebooks show it."""

from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

from nbyt.frames import frame
from nbyt.plotly_figure import plotly_figure
from nbyt.report.pages.advice.losses import loss_chart
from nbyt.report.tables.advice import answer_lines
from nbyt.results import Advice as AdviceRecord
from nbyt.results import plain
from nbyt.results.advice import Answer, Cost, Current, LayoutLoss, PriorFacts
from nbyt.results.values import Data


@dataclass(frozen=True, repr=False)
class Advice:
    """The layout advised by `nbyt.advise`; `print` shows the answer and what it rests on.

    Notebooks show a card. The page with all charts is at `report`.

    Attributes
    ----------
    record
        Everything that `nbyt advise --json` prints, as types.
    """

    record: AdviceRecord

    @cached_property
    def data(self) -> Data:
        """Return the record as plain data."""
        return plain(self.record)

    @property
    def time(self) -> Answer | None:
        """Return the layout to use for the same time; None if costs are not known."""
        return self.record.advice.time

    @property
    def samples(self) -> Answer:
        """Return the layout to use for the same samples."""
        return self.record.advice.samples

    @property
    def safe_range(self) -> tuple[tuple[int, int], ...]:
        """Return the layouts that lose at most 5 % with a probability of at least .9."""
        return self.record.safe_range

    @property
    def layouts(self) -> tuple[LayoutLoss, ...]:
        """Return every layout that was compared, with its expected loss."""
        return self.record.layouts

    @property
    def cost(self) -> Cost:
        """Return what the advice cost."""
        return self.record.cost

    @property
    def prior(self) -> PriorFacts:
        """Return which reference tasks it rests on."""
        return self.record.prior

    @property
    def current(self) -> Current | None:
        """Return your own layout beside the advised one, if you gave it."""
        return self.record.current

    @property
    def report(self) -> Path:
        """Return the path of the page."""
        return Path(self.record.report)

    def as_dict(self) -> Data:
        """Return the data of the JSON output."""
        return self.data

    def to_frame(self) -> Any:
        """Return a table of pandas with a row for each layout."""
        return frame([plain(one) for one in self.layouts])

    def plot(self) -> Any:
        """Return the expected losses over T as a figure of Plotly."""
        return plotly_figure(loss_chart(self.record))

    def __str__(self) -> str:
        return "\n".join(answer_lines(self.record))

    def __repr__(self) -> str:
        best = self.record.answer
        return (
            f"Advice({self.record.env!r}, batch={self.record.batch}, "
            f"{self.record.objective}={best.envs}x{best.steps})"
        )

    def _repr_html_(self) -> str:
        from nbyt.report.pages.advice import card

        return card(self.record)
