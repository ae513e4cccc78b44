"""nbyt.load: the stored result of an earlier call or command, without doing anything again."""

from pathlib import Path

from nbyt.advice.result import Advice
from nbyt.api.calling import public
from nbyt.api.training import Training
from nbyt.errors import StoreError
from nbyt.results import ProbedTraining, Study
from nbyt.store.files import ADVICE, PROBES, RESULT, STUDY, SWEEP
from nbyt.store.paths import resolved
from nbyt.store.run import Folder, read_probes
from nbyt.sweeps.run import Sweep


@public
def load(folder: Path | str) -> Advice | Sweep | Training | ProbedTraining | Study:
    """Load what `nbyt advise`, `sweep`, `train`, `reproduce` or a callback kept in a folder.

    Parameters
    ----------
    folder
        The folder, as given to `out`.

    Returns
    -------
    Advice, Sweep, Training, ProbedTraining or Study
        What the call returned that wrote it.
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
    message = f"{found.path} holds no finished advice, sweep, training or study"
    fix = "name the folder that was given to --out"
    raise StoreError(message, where="folder", fix=fix)
