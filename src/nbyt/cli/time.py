"""`nbyt time`: seconds of an update with different N, to advise for another machine."""

from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any, Literal

from cyclopts import Parameter

from nbyt.cli.options import EnvId, Settings
from nbyt.cli.output import Common, Outcome, show, show_next, talk
from nbyt.envs import DeviceEnv, HostEnv, resolve
from nbyt.envs.protocol import usual_envs
from nbyt.errors import LayoutError, StoreError
from nbyt.layout import Layout, nearest_divisors
from nbyt.numbers import SIZE, SIZES, Passes, Size, SizesText
from nbyt.progress import watched
from nbyt.report.tables.time import time_table
from nbyt.results import plain
from nbyt.store.files import COSTS
from nbyt.store.paths import make_writable, resolved_entry
from nbyt.training import hardware
from nbyt.training.costs import TimedPPO, time_layouts
from nbyt.training.plan import EPOCHS, HOST_ENVS, MINIBATCH, PPOSettings

_USUAL, _USUAL_HOST = (2, 8, 64, 512), (1, 4, 16, HOST_ENVS)


@dataclass(frozen=True)
class TimeOptions:
    """The options of `nbyt time`."""

    envs: SizesText = ""
    """Numbers of envs N to time, such as 1,8,64,512."""

    batch: Size = 2048
    """Samples of a batch, N x T."""

    minibatch: Size | None = None
    """Samples of one gradient step; without, 256 or the next divisor of the batch below."""

    epochs: Passes = EPOCHS
    """Passes over the batch in one update."""

    out: Path = Path("costs.json")
    """File to write, for `nbyt advise --costs FILE`."""

    force: bool = False
    """Replace the file if it is there."""

    vector: Literal["sync", "async"] = "sync"
    """Host envs in this process, or in a process each."""

    device: Literal["auto", "cpu", "gpu", "tpu"] = "auto"
    """Where JAX computes."""


def run(
    env: EnvId,
    *,
    options: Annotated[TimeOptions, Parameter(name="*")] = TimeOptions(),
    settings: Annotated[Settings, Parameter(name="*")] = PPOSettings(),
    common: Annotated[Common, Parameter(name="*")] = Common(),
) -> Outcome:
    """Time updates of PPO with different numbers of envs, on the machine that will train."""
    target = resolved_entry(options.out)
    if target.exists() and not options.force:
        raise StoreError(
            f"{target} is there already", where="--out", fix="give another name, or --force"
        )
    if target.is_dir():
        raise StoreError(f"{target} is a folder", where="--out", fix="give the name of a file")
    make_writable(target.parent)
    hardware.prepare(options.device, quiet=common.quiet)
    found = resolve(env)
    layouts = _layouts(options, _usual(found))
    with watched(talk(quiet=common.quiet)) as progress:
        costs = time_layouts(
            layouts,
            lambda layout: TimedPPO(found, settings, layout, options.vector),
            progress=progress,
        )
    COSTS.write(target, costs.record)
    rows = [costs.measured(split) for split in costs.timed]
    if not common.json:
        show(time_table(rows), f"costs: {target}")
        show_next("advise", found.id, "--batch", options.batch, "--costs", options.out)
    data: dict[str, Any] = {
        "env": found.id,
        "batch": options.batch,
        "layouts": [plain(row) for row in rows],
        "out": str(target),
    }
    return Outcome(data)


def _usual(env: DeviceEnv | HostEnv) -> tuple[int, ...]:
    """Return the numbers of envs to time by default."""
    most = usual_envs(env, _USUAL[-1], HOST_ENVS)
    return tuple(one for one in (_USUAL_HOST if most == HOST_ENVS else _USUAL) if one <= most)


def _layouts(options: TimeOptions, usual: tuple[int, ...]) -> list[Layout]:
    batch = options.batch
    given = SIZES.read(options.envs, "--envs") if options.envs else ()
    numbers = sorted(set(given)) or [one for one in usual if batch % one == 0 and one <= batch]
    for envs in numbers:
        if batch % SIZE.check(envs, "envs"):
            near = ", ".join(map(str, nearest_divisors(batch, envs)))
            raise LayoutError(
                f"a batch of {batch} does not split over {envs} envs",
                where="envs",
                fix=f"use divisors of the batch, such as {near}",
            )
    if len(numbers) < 2:
        raise LayoutError(
            "one number of envs says nothing about others",
            where="envs",
            fix="give at least two, such as 8,512",
        )
    minibatch = options.minibatch or nearest_divisors(batch, MINIBATCH)[0]
    return [Layout(envs, batch // envs, minibatch, options.epochs) for envs in numbers]
