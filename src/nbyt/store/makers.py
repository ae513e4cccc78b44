"""Which command made a folder, so that another one's --out is refused in plain words."""

from dataclasses import dataclass
from typing import Any

from nbyt.store.advice import AdviceFolder
from nbyt.store.folder import RunFolder
from nbyt.store.probes import ProbesFolder
from nbyt.store.study import StudyFolder
from nbyt.store.sweep import SweepFolder


@dataclass(frozen=True)
class Maker:
    """A command, what its folders hold, and how to handle them."""

    holds: str
    command: str
    folder: type[RunFolder]


_MAKERS = {
    "train": Maker("a training", "`nbyt train`", RunFolder),
    "sweep": Maker("a sweep", "`nbyt sweep`", SweepFolder),
    "advise": Maker("an advice", "`nbyt advise`", AdviceFolder),
    "reproduce": Maker("a study", "`nbyt reproduce`", StudyFolder),
    "probe a training": Maker("the probes of a training", "GradientProbe", ProbesFolder),
}


def maker_of(identity: dict[str, Any]) -> Maker | None:
    """Who made a folder with that identity; None where it does not say."""
    # Trainings and studies have no command in their identity, but a word that no other has.
    told = [name for key, name in (("study", "reproduce"), ("algo", "train")) if key in identity]
    name = identity.get("command", told[0] if told else None)
    return _MAKERS.get(name) if isinstance(name, str) else None
