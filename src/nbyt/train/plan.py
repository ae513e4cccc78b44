"""Plan: one training run, described completely."""

from dataclasses import dataclass
from typing import Any, ClassVar, Generic, Protocol, TypeVar

from nbyt.errors import UsageError
from nbyt.layout import Layout
from nbyt.numbers import COUNT, STEPS
from nbyt.rng import require_seed
from nbyt.train.settings import PPOSettings

# Early, middle and final: where a run's stages are taken unless the user says otherwise.
_DEFAULT_SHARES = (0.1, 0.5, 1.0)


class LayoutLike(Protocol):
    """How an update gets and uses its samples."""

    @property
    def envs(self) -> int:
        """Parallel environments."""
        ...

    @property
    def steps(self) -> int:
        """Steps of each between two updates."""
        ...

    def updates(self, total: int) -> int:
        """Whole updates in a run of `total` environment steps."""
        ...

    def as_dict(self) -> dict[str, int]:
        """Plain numbers."""
        ...


class Settings(Protocol):
    """What decides the numbers beside the sizes."""

    def as_dict(self) -> dict[str, Any]:
        """Plain values."""
        ...


AnySizes = TypeVar("AnySizes", bound=LayoutLike)
AnySettings = TypeVar("AnySettings", bound=Settings)


@dataclass(frozen=True)
class RunPlan(Generic[AnySizes, AnySettings]):
    """Env, sizes, length, seed and settings of a run, and the updates after which stages are kept.

    vector: how host envs run, "sync" or "async"; it does not change the numbers.
    """

    algo: ClassVar[str]

    env: str
    layout: AnySizes
    total: int
    seed: int
    settings: AnySettings
    stages: tuple[int, ...]
    vector: str = "sync"

    def __post_init__(self) -> None:
        require_seed(self.seed)
        STEPS.check(self.total, "total")

    @property
    def updates(self) -> int:
        """How many updates the run makes."""
        return self.layout.updates(self.total)

    def identity(self) -> dict[str, Any]:
        """All that decides the run's numbers, as plain values."""
        return {
            "algo": self.algo,
            "env": self.env,
            "layout": self.layout.as_dict(),
            "total": self.total,
            "seed": self.seed,
            "settings": self.settings.as_dict(),
            "stages": list(self.stages),
        }


class PPOPlan(RunPlan[Layout, PPOSettings]):
    """A run of PPO."""

    algo = "ppo"


def stage_updates(
    updates: int, *, count: int | None = None, save_at: tuple[int, ...] = ()
) -> tuple[int, ...]:
    """The updates after which stages are kept: three, `count` evenly spaced, or those named."""
    if save_at:
        outside = [number for number in save_at if not 1 <= number <= updates]
        if outside:
            raise UsageError(
                f"stages at updates {outside} are outside the run's 1 to {updates}",
                where="save-at",
                fix="name updates within the run, or lengthen --total",
            )
        return tuple(sorted(set(save_at)))
    if count is not None and COUNT.check(count, "stages") > updates:
        raise UsageError(
            f"{count} stages do not fit into {updates} updates",
            where="stages",
            fix=f"ask for 1 to {updates} stages",
        )
    shares: tuple[float, ...] = _DEFAULT_SHARES
    if count is not None:
        shares = tuple(place / count for place in range(1, count + 1))
    return tuple(sorted({max(1, round(updates * share)) for share in shares}))
