"""The commands that are killed: a small real case of each, and what must be the same afterwards."""

import json
import re
from dataclasses import dataclass
from pathlib import Path

from nbyt.store.files import MARKER
from nbyt.store.paths import is_leftover
from nbyt.store.run import verify


@dataclass(frozen=True)
class Case:
    """A command without --out.

    differs: names of files that hold times, or numbers that depend on them; all others must be
    byte for byte those of an undisturbed run. parallel, serial: more words; the second where the
    process dies at a file operation of its own, so that it is this process which writes.
    """

    name: str
    words: str
    differs: str = ""
    parallel: str = ""
    serial: str = ""

    def command(self, out: Path, *, serial: bool = False) -> list[str]:
        """Return the words after `nbyt`."""
        more = self.serial if serial else self.parallel
        return [*self.words.split(), *more.split(), "--quiet", "--out", str(out)]


_TABLE = "--network table --learning-rate 0.01"
_LAKE = f"--envs 4 --steps 32 --minibatch 64 {_TABLE}"
_NOT_SAVED = r"(stage|result|metrics).*"  # host envs start new episodes: a proper run, other bits
_TIMES = {"started", "wall_seconds", "seconds", "self_sha256"}
_TIMED = r"times\.json|sweep\.json|report\.html"

CASES = (
    Case("train, device env", f"train tabular:FrozenLake-v1 --total 120000 {_LAKE}"),
    Case("train, DQN", "train --algo dqn gymnax:CartPole-v1 --total 12000 --buffer 8000"),
    Case("train, host env", f"train gym:FrozenLake-v1 --total 10000 {_LAKE}", differs=_NOT_SAVED),
    Case(
        "train, host envs in processes",
        f"train gym:FrozenLake-v1 --vector async --total 6000 {_LAKE}",
        differs=_NOT_SAVED,
    ),
    Case(
        "advise",
        "advise tabular:FrozenLake-v1 --batch 64 --trainings 2 --costs parallel --total 20000 "
        f"--stages 1 {_TABLE}",
        differs=r"report\.html",  # it says how long the advice took
    ),
    Case(
        "sweep, device env",
        "sweep tabular:FrozenLake-v1 --batch 32 --layouts 4x8,8x4 --seeds 20 --total 1024 "
        f"--minibatch 16 --epochs 2 --no-advice {_TABLE}",
        differs=_TIMED,
    ),
    Case(
        "sweep, host env",
        "sweep gym:FrozenLake-v1 --batch 32 --layouts 4x8,8x4 --seeds 10 --total 256 "
        f"--minibatch 16 --epochs 2 --no-advice {_TABLE}",
        differs=_TIMED,
    ),
    Case(
        "reproduce",
        "reproduce post --quick",
        parallel="--workers 2",
        serial="--workers 1",
    ),
)


def slug(case: Case) -> str:
    """Return the case's name as that of a folder."""
    return case.name.replace(", ", "-").replace(" ", "-")


def contents(case: Case, folder: Path) -> dict[str, bytes]:
    """Read every file of a finished folder, by its name, without times and what depends on them."""
    found = {}
    for path in sorted(folder.rglob("*")):
        if path.is_dir():
            continue
        name = path.relative_to(folder).as_posix()
        if case.differs and re.fullmatch(case.differs, name):
            found[name] = b"there"
        else:
            data = path.read_bytes()
            found[name] = _without_times(data) if path.suffix == ".json" else data
    return found


def leftovers(folder: Path) -> list[str]:
    """List temporary files and folders, by name."""
    return sorted(
        str(path.relative_to(folder)) for path in folder.rglob("*") if is_leftover(path.name)
    )


def damages(folder: Path) -> list[str]:
    """Say what is wrong with the folder, and with every run inside it, as `nbyt doctor` does."""
    return [line for marker in folder.rglob(MARKER.name) for line in verify(marker.parent)]


def _without_times(data: bytes) -> bytes:
    """Return sealed JSON without its times, and without the hash that covers them."""

    def kept(pairs: list[tuple[str, object]]) -> dict[str, object]:
        return {key: value for key, value in pairs if key not in _TIMES}

    return json.dumps(json.loads(data, object_pairs_hook=kept)).encode()
