"""The grid: every layout of a batch with every seed, each of them a cell."""

from collections.abc import Sequence
from dataclasses import dataclass, field, fields
from typing import Any, NamedTuple

from msgspec import to_builtins

from nbyt.collect.evaluate import DEVICE_EPISODES
from nbyt.envs.protocol import DeviceEnv, HostEnv, most_envs, usual_envs
from nbyt.errors import UsageError
from nbyt.layout import Layout, lengths_of, nearest_divisors
from nbyt.numbers import COUNT, SIZE, SPLITS, STEPS, require, require_seeds
from nbyt.training.plan import EPOCHS, HOST_ENVS, MINIBATCH, PPOPlan, PPOSettings, stage_updates

POINTS = 20


class Cell(NamedTuple):
    """One training: a layout and a seed."""

    envs: int
    steps: int
    seed: int

    @property
    def name(self) -> str:
        """Return the name of the cell in files and messages."""
        return f"{self.envs}x{self.steps}-seed-{self.seed}"


@dataclass(frozen=True)
class Grid:
    """What is trained: all layouts have the same batch.

    points: the updates after which the policy is evaluated. lengths: of every layout, the updates
    of a whole training and those after which it stops; without, all see `total` samples. episodes:
    played at every point, on the device; 0 for curves of the training's own episodes, which cost no
    env step.
    """

    env: DeviceEnv | HostEnv
    layouts: tuple[Layout, ...]
    seeds: tuple[int, ...]
    total: int
    points: tuple[int, ...]
    settings: PPOSettings = field(default_factory=PPOSettings)
    vector: str = "sync"
    lengths: tuple[tuple[int, int], ...] = ()
    episodes: int = DEVICE_EPISODES

    @property
    def batch(self) -> int:
        """Return the samples of a batch."""
        return self.layouts[0].batch

    @property
    def cells(self) -> tuple[Cell, ...]:
        """Return every cell, layout by layout."""
        return tuple(
            Cell(layout.envs, layout.steps, seed) for layout in self.layouts for seed in self.seeds
        )

    def plan(self, cell: Cell) -> PPOPlan:
        """Return the training of a cell; its stages are the points at which it is evaluated."""
        layout = self.layouts[self._place(cell)]
        total = self.lengths[self._place(cell)][0] * self.batch if self.lengths else self.total
        return PPOPlan(
            self.env.id, layout, total, cell.seed, self.settings, self.points_of(cell), self.vector
        )

    def points_of(self, cell: Cell) -> tuple[int, ...]:
        """Return the updates after which a cell is evaluated; it stops after the last."""
        if not self.lengths:
            return self.points
        last = self.lengths[self._place(cell)][1]
        return (*(point for point in self.points if point < last), last)

    def _place(self, cell: Cell) -> int:
        splits = [(one.envs, one.steps) for one in self.layouts]
        return splits.index((cell.envs, cell.steps))

    def identity(self) -> dict[str, Any]:
        """Return all that decides the numbers, as plain values."""
        return {
            "command": "sweep",
            "env": self.env.id,
            "layouts": [layout.as_dict() for layout in self.layouts],
            "seeds": list(self.seeds),
            "total": self.total,
            "points": list(self.points),
            "settings": self.settings.as_dict(),
        }


def make_grid(
    env: DeviceEnv | HostEnv,
    *,
    batch: int,
    seeds: int,
    total: int,
    layouts: Sequence[tuple[int, int]] = (),
    first_seed: int = 0,
    minibatch: int | None = None,
    epochs: int = EPOCHS,
    settings: PPOSettings | None = None,
    max_envs: int | None = None,
    vector: str = "sync",
) -> Grid:
    """Fill in every default. layouts: pairs (envs, steps); the powers of two if not given."""
    batch, total = SIZE.check(batch, "batch"), STEPS.check(total, "total")
    max_envs, minibatch = require(SIZE, max_envs=max_envs, minibatch=minibatch)
    seeds = COUNT.check(seeds, "seeds")
    first_seed = require_seeds(first_seed, seeds)
    layouts = SPLITS.check(layouts, "layouts")
    wrong = [f"{envs}x{steps}" for envs, steps in layouts if envs * steps != batch]
    if wrong:
        raise UsageError(
            f"{', '.join(wrong)} does not split a batch of {batch}",
            where="layouts",
            fix="envs times steps must be the batch in every layout",
        )
    most = most_envs(env, max_envs or usual_envs(env, batch, HOST_ENVS))
    _require_startable(env, layouts)
    splits = dict.fromkeys(layouts) or [(batch // t, t) for t in lengths_of(batch, (), most)]
    size = minibatch or nearest_divisors(batch, MINIBATCH)[0]
    chosen = tuple(Layout(envs, steps, size, epochs) for envs, steps in splits)
    updates = chosen[0].updates(total)
    points = stage_updates(updates, count=min(POINTS, updates))
    all_seeds = tuple(range(first_seed, first_seed + seeds))
    return Grid(env, chosen, all_seeds, total, points, settings or PPOSettings(), vector)


def _require_startable(env: DeviceEnv | HostEnv, layouts: Sequence[tuple[int, int]]) -> None:
    """Refuse layouts with more envs than a vector env with a fixed N has."""
    larger = [f"{n}x{t}" for n, t in layouts if n > most_envs(env, n)]
    if larger:
        raise UsageError(
            f"{', '.join(larger)} has more envs than '{env.id}', whose N is fixed at "
            f"{most_envs(env, 2**31):,}",
            where="layouts",
            fix="leave it out, or give a function that takes num_envs",
        )


@dataclass(frozen=True)
class GridSpec:
    """All of a grid but the env itself, which every process builds for itself."""

    env: str
    layouts: tuple[Layout, ...]
    seeds: tuple[int, ...]
    total: int
    points: tuple[int, ...]
    settings: PPOSettings
    vector: str
    lengths: tuple[tuple[int, int], ...]
    episodes: int

    @classmethod
    def from_grid(cls, grid: Grid) -> "GridSpec":
        """Describe a grid, to be sent to another process."""
        return cls(grid.env.id, *(getattr(grid, one.name) for one in fields(cls)[1:]))

    def as_dict(self) -> dict[str, Any]:
        """Return plain values, for JSON; msgspec's `convert` reads them back."""
        return to_builtins(self)

    def grid(self, env: DeviceEnv | HostEnv) -> Grid:
        """Return the grid; env: the one that `self.env` names, built in this process."""
        return Grid(env, *(getattr(self, one.name) for one in fields(self)[1:]))
