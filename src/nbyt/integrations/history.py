"""What was measured during a training, kept for `nbyt report`."""

from pathlib import Path
from typing import Any

from nbyt.report.probes import write_probes_page
from nbyt.store.manifest import manifest, versions
from nbyt.store.probes import PAGE, ProbesFolder, read_probes
from nbyt.store.run import open_as
from nbyt.train import hardware


class History:
    """A folder of records, one for each update that was measured.

    A training that goes on adds to what is there; another training's folder is refused.
    """

    def __init__(self, out: Path | str, *, title: str, library: str, **head: Any) -> None:
        facts = {"title": title, "library": library, **head}
        identity = {"command": "probe a training", **facts}
        made_by = manifest("probe a training", identity, 0, hardware.describe())
        self.folder = open_as(ProbesFolder, Path(out), identity, manifest=made_by)
        machine = {"device": hardware.describe()}
        self.folder.write_log({**facts, "machine": machine, "versions": versions()})

    def add(self, record: dict[str, Any]) -> None:
        """Nothing; the record is then on disk, in place of one of the same update."""
        self.folder.add(record)

    def write_page(self) -> Path:
        """The page of all records so far."""
        path = self.folder.path / PAGE
        write_probes_page(read_probes(self.folder.path), path)
        return path
