"""Finished trainings, sweeps and advices of the user's own, as evidence for a race."""

import hashlib
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from nbyt.advice.request import AdviceRequest
from nbyt.errors import StoreError, UsageError
from nbyt.results.sweep import CellCurve
from nbyt.results.values import Data
from nbyt.store.atomic import canonical
from nbyt.store.files import ADVICE, CELL, COMMANDS, MARKER, METRICS, RESULT, STAGE, SWEEP
from nbyt.store.run import Folder, command_of, differences
from nbyt.sweeps.grid import Cell
from nbyt.training.curves import Curve, filled, training_returns
from nbyt.training.plan import PPOPlan

_CELL = re.compile(r"cell-([0-9]+)x([0-9]+)-seed-([0-9]+)\.json")
# With annealing a training's quarter depends on its length; so far may that be from the one asked.
_NEARLY = 0.05

# Of every update of a single training: episodes that ended, and the sum of their returns.
Ended = tuple[tuple[int, float], ...]


@dataclass(frozen=True, eq=False)
class OwnRun:
    """A finished run.

    holds: "a training" and the like. settings: env, batch, mini-batch, epochs and those of PPO.
    total: env steps of a whole training. curves: of its trainings; of a single training the
    episodes of every update instead.
    """

    path: Path
    holds: str
    settings: Mapping[str, Any]
    total: int
    curves: Mapping[Cell, CellCurve | Ended]

    @property
    def fingerprint(self) -> str:
        """Return a hash of everything that may count."""
        curves = {
            cell.name: one if isinstance(one, tuple) else [one.samples, one.returns, one.training]
            for cell, one in self.curves.items()
        }
        return hashlib.sha256(canonical([self.settings, self.total, curves])).hexdigest()

    def curve(self, cell: Cell, plan: PPOPlan, start: float, *, played: bool) -> Curve | str:
        """Return a training as the race would have seen it, or why it does not count.

        plan: of that training in the race. start: the return of the untrained policy. played: True
        if the race plays episodes at the points of its curves.
        """
        found, batch = self.curves[cell], plan.layout.batch
        samples = np.array(plan.stages) * batch
        if plan.settings.anneal and abs(self.total / (plan.updates * batch) - 1) > _NEARLY:
            return "with annealing only trainings of the length that is asked for count"
        seen = len(found) * batch if isinstance(found, tuple) else found.samples[-1]
        if seen < samples[-1]:
            return f"shorter than the part that a race trains, {samples[-1]:,} env steps"
        if isinstance(found, tuple):
            own = training_returns(plan, *zip(*found, strict=True))
            if own.count(None) == len(own):
                return "no episode ended in time"
            return Curve(tuple(map(int, samples)), filled(own), 0)
        known = found.returns
        if not played and any(one is not None for one in found.training):
            known = filled(found.training)
        returns = np.interp(samples, [0, *found.samples], [start, *known])
        return Curve(tuple(map(int, samples)), tuple(map(float, returns)), 0)


def own_runs(paths: Sequence[Path | str]) -> tuple[list[OwnRun], list[Path]]:
    """Read the runs among these paths; return them, and the stages that they and the others hold.

    A path that is no run of a command is taken for a stage.
    """
    runs: list[OwnRun] = []
    stages: list[Path] = []
    for path in map(Path, paths):
        marker = Folder(path).read(MARKER) if path.is_dir() else None
        command = None if marker is None else command_of(marker.identity)
        if marker is None or command is None:
            stages.append(path)
            continue
        runs.append(_READERS.get(command, _no_trainings)(Folder(path), marker.identity))
        stages += Folder(path).present(STAGE)
    return runs, stages


def sources_of(runs: Sequence[OwnRun], stages: Sequence[str]) -> list[str]:
    """Return what to give again for these runs and stages; a run brings its own stages."""
    paths = [run.path for run in runs]
    return [*map(str, paths), *(one for one in stages if one and Path(one).parent not in paths)]


def require_same(request: AdviceRequest, runs: Sequence[OwnRun]) -> None:
    """Raise a UsageError that names what differs between a run and what is asked."""
    asked = {
        "env": request.env.id,
        "batch": request.batch,
        "minibatch": request.minibatch,
        "epochs": request.epochs,
        **request.settings.as_dict(),
    }
    for run in runs:
        found = differences({name: run.settings.get(name) for name in asked}, asked)
        stages = Folder(run.path).present(STAGE)
        rest = f"; {stages[-1]} may differ: a stage only explains" if stages else ""
        if found:
            raise UsageError(
                f"{run.path} holds {run.holds} with other settings than are asked for: "
                f"{', '.join(found)}",
                where="--from",
                fix=f"ask with the settings of that run{rest}",
            )


def _training(folder: Folder, identity: Data) -> OwnRun:
    if identity.get("algo") != "ppo":
        message = f"{folder.path} holds a training of {identity.get('algo')}, and a race is of PPO"
        raise UsageError(message, where="--from", fix="give a training of PPO, or a sweep")
    rows = folder.read(METRICS) or []
    if folder.read(RESULT) is None:
        raise StoreError(
            f"{folder.path} holds a training that is not finished",
            where="--from",
            fix="finish it by giving its command again, or give one of its stages, which only "
            "explains",
        )
    layout = _part(identity, "layout")
    try:
        cell = Cell(int(layout["envs"]), int(layout["steps"]), int(identity["seed"]))
        means = [(int(row["episodes"] or 0), float(row["mean_return"] or 0.0)) for row in rows]
        ended = tuple((count, count * mean) for count, mean in means)
    except (KeyError, TypeError, ValueError) as error:
        path = str(folder.path)
        message = f"{path} is not as nbyt wrote it: {error}"
        raise StoreError(message, where=path, fix="restore it, or train again") from error
    return _run(folder, "train", identity, layout, {cell: ended})


def _sweep(folder: Folder, identity: Data) -> OwnRun:
    sweep = folder.require(SWEEP)
    sizes = {"batch": sweep.batch, "minibatch": sweep.minibatch, "epochs": sweep.epochs}
    return _run(folder, "sweep", identity, sizes, _cells(folder))


def _advice(folder: Folder, identity: Data) -> OwnRun:
    folder.require(ADVICE)
    return _run(folder, "advise", identity, identity, _cells(folder))


def _no_trainings(folder: Folder, identity: Data) -> OwnRun:
    command = command_of(identity)
    assert command is not None, "a run of no command is taken for a stage"
    message = f"{folder.path} holds {COMMANDS[command].holds}, which is no evidence for a race"
    fix = "give a finished training, a sweep or another advice, or a stage"
    raise UsageError(message, where="--from", fix=fix)


_READERS = {"train": _training, "sweep": _sweep, "advise": _advice}


def _run(
    folder: Folder,
    command: str,
    identity: Data,
    sizes: Data,
    curves: Mapping[Cell, CellCurve | Ended],
) -> OwnRun:
    settings = {
        "env": identity.get("env"),
        **{name: sizes.get(name) for name in ("batch", "minibatch", "epochs")},
        **_part(identity, "settings"),
    }
    total = identity.get("total")
    whole = total if isinstance(total, int) else 0
    return OwnRun(folder.path, COMMANDS[command].holds, settings, whole, curves)


def _part(identity: Data, name: str) -> Data:
    part = identity.get(name)
    return part if isinstance(part, dict) else {}


def _cells(folder: Folder) -> dict[Cell, CellCurve | Ended]:
    found: dict[Cell, CellCurve | Ended] = {}
    for path in folder.present(CELL):
        name = _CELL.fullmatch(path.name)
        assert name is not None, "the table of files names cells so"
        found[Cell(*map(int, name.groups()))] = CELL.read(path)
    return found
