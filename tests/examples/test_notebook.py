"""The notebook runs top to bottom in a kernel of its own."""

from pathlib import Path

import pytest

nbclient = pytest.importorskip("nbclient")
nbformat = pytest.importorskip("nbformat")

NOTEBOOK = Path(__file__).parents[2] / "docs/tutorials/notebook.ipynb"


def test_the_notebook_runs_top_to_bottom(tmp_path: Path) -> None:
    book = nbformat.read(NOTEBOOK, 4)
    assert not any(cell.get("outputs") for cell in book.cells), "it is kept without outputs"
    where = {"metadata": {"path": str(tmp_path)}}
    nbclient.NotebookClient(book, timeout=600, kernel_name="python3", resources=where).execute()
    outputs = [one for cell in book.cells for one in cell.get("outputs", [])]
    assert any("application/vnd.plotly.v1+json" in one.get("data", {}) for one in outputs)
    cards = [one for one in outputs if "text/html" in one.get("data", {})]
    assert len(cards) >= 2
    # Progress is a line for each part, and not a bar that is drawn over and over.
    assert len(outputs) < 40 and not any("\x1b[" in one.get("text", "") for one in outputs)
