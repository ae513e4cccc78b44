"""A grid as another process can be given it: plain values, and the env by its id."""

from typing import Any, NamedTuple

from nbyt.envs.protocol import DeviceEnv, HostEnv
from nbyt.layout import Layout
from nbyt.sweep.grid import Grid
from nbyt.train.settings import PPOSettings


class GridSpec(NamedTuple):
    """All of a grid but the env itself, which every process finds for itself."""

    env: str
    layouts: tuple[Layout, ...]
    seeds: tuple[int, ...]
    total: int
    points: tuple[int, ...]
    settings: PPOSettings
    vector: str

    def as_dict(self) -> dict[str, Any]:
        """Plain values, for JSON."""
        return {
            **self._asdict(),
            "layouts": [[one.envs, one.steps, one.minibatch, one.epochs] for one in self.layouts],
            "settings": self.settings.as_dict(),
        }


def order_of(grid: Grid) -> GridSpec:
    """What to send."""
    return GridSpec(
        grid.env.id,
        grid.layouts,
        grid.seeds,
        grid.total,
        grid.points,
        grid.settings,
        grid.vector,
    )


def order_from(facts: dict[str, Any]) -> GridSpec:
    """The order that `as_dict` described."""
    settings = dict(facts["settings"])
    settings["lam"] = settings.pop("lambda")
    return GridSpec(
        facts["env"],
        tuple(Layout(*one) for one in facts["layouts"]),
        tuple(facts["seeds"]),
        facts["total"],
        tuple(facts["points"]),
        PPOSettings(**settings),
        facts["vector"],
    )


def grid_of(order: GridSpec, env: DeviceEnv | HostEnv) -> Grid:
    """The grid that was sent; env: the one that the order names."""
    return Grid(env, *order[1:])
