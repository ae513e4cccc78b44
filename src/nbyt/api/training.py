"""A training that is done, as `nbyt.train` returns it and `nbyt.load` reads it."""

from dataclasses import dataclass
from pathlib import Path
from typing import Any

from nbyt.dialects.describing import Facts, table, text
from nbyt.frames import frame
from nbyt.plotly_figure import plotly_figure
from nbyt.report.figures.parts import figure, scatter, value_axis
from nbyt.results import plain
from nbyt.stats.estimate import Estimate
from nbyt.store.files import MARKER, METRICS, RESULT, STAGE
from nbyt.store.run import Folder


@dataclass(frozen=True)
class Training:
    """A finished training.

    Attributes
    ----------
    env
        The id of its env.
    layout
        The sizes of its updates by name, as `nbyt train --json` has them.
    final_return
        The return of the final policy over whole episodes, with its interval.
    stages
        Folders of the frozen policies that were kept, for `nbyt.probe`.
    metrics
        A row of numbers for each update.
    folder
        Where all of it is.
    """

    env: str
    layout: dict[str, int]
    final_return: Estimate
    stages: tuple[Path, ...]
    metrics: tuple[dict[str, Any], ...]
    folder: Path

    @classmethod
    def read(cls, folder: Folder) -> "Training":
        """Read a training from its folder."""
        result, facts = folder.require(RESULT), plain(folder.require(MARKER))["identity"]
        return cls(
            env=facts["env"],
            layout=facts["layout"],
            final_return=Estimate(**plain(result)["final_return"]),
            stages=tuple(folder.present(STAGE)),
            metrics=tuple(folder.read(METRICS) or ()),
            folder=folder.path,
        )

    @property
    def layouts(self) -> tuple[dict[str, int], ...]:
        """Return the one layout that was trained."""
        return (self.layout,)

    def to_frame(self) -> Any:
        """Return a table of pandas with a row for each update."""
        return frame(self.metrics)

    def plot(self) -> Any:
        """Return the learning curve as a figure of Plotly."""
        ended = [row for row in self.metrics if row["episodes"]]
        curve = scatter([row["steps"] for row in ended], [row["mean_return"] for row in ended])
        axes = {"xaxis": {"title": {"text": "samples"}}, "yaxis": value_axis("return")}
        return plotly_figure(figure([curve], 380, **axes))

    def _rows(self) -> Facts:
        stages = [(f"stage {number}", str(path)) for number, path in enumerate(self.stages, 1)]
        sizes = ", ".join(f"{name} {size:,}" for name, size in self.layout.items())
        return [("layout", sizes), ("final return", str(self.final_return)), *stages]

    def __str__(self) -> str:
        return text(self.env, self._rows())

    def _repr_html_(self) -> str:
        return table(self.env, self._rows())
