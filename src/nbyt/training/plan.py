"""The complete description of a training run."""

from dataclasses import dataclass, fields
from functools import cached_property
from typing import Any, ClassVar, Generic, Literal, Protocol, TypeVar

from nbyt.errors import UsageError
from nbyt.layout import Layout
from nbyt.numbers import COUNT, SEED, STEPS, Coefficient, Positive, Probability, check_fields
from nbyt.policy.networks import Network, parse_network

# Defaults of commands: samples of a mini-batch, passes over the batch, and most host envs at once.
MINIBATCH = 256
EPOCHS = 4
HOST_ENVS = 64


class LearningSettings:
    """What the settings of all algorithms share; wrong values are refused when they are made."""

    network: str
    activation: str

    def __post_init__(self) -> None:
        check_fields(self)
        parse_network(self.network, self.activation)

    @property
    def parsed_network(self) -> Network:
        """Return the network that `network` and `activation` describe."""
        return parse_network(self.network, self.activation)

    def as_dict(self) -> dict[str, Any]:
        """Return plain values, named as on the command line."""
        values = {field.name: getattr(self, field.name) for field in fields(self)}  # type: ignore[arg-type]
        if "lam" in values:
            values["lambda"] = values.pop("lam")
        return values


@dataclass(frozen=True)
class PPOSettings(LearningSettings):
    """How PPO learns. Frozen and hashable; wrong values are refused when it is made."""

    gamma: Probability = 0.99
    """Discount of a step."""

    lam: Probability = 0.95
    """Lambda of GAE: 0 trusts the critic after one step, 1 waits for the rewards."""

    learning_rate: Positive = 3e-4
    """Step size of Adam."""

    anneal: bool = False
    """Let the learning rate fall to 0 in a straight line over the run."""

    clip: Positive = 0.2
    """How far the probability ratio may leave 1."""

    value_clip: Positive | None = None
    """How far the critic may move from its old value in one update; none without."""

    entropy_coefficient: Coefficient = 0.0
    """Weight of the entropy bonus."""

    value_coefficient: Coefficient = 0.5
    """Weight of half the critic's squared error."""

    max_grad_norm: Positive = 0.5
    """Longest gradient, clipped for actor and critic apart where their networks are."""

    clip_jointly: bool = False
    """Clip one gradient norm over actor and critic together, as Stable-Baselines3 does."""

    normalise_advantages: Literal["minibatch", "batch", "off"] = "minibatch"
    """Over what advantages get mean 0 and standard deviation 1."""

    normalise_observations: bool = False
    """Standardise vector observations by their running mean and variance."""

    normalise_rewards: bool = False
    """Divide rewards by the running standard deviation of the discounted return."""

    target_kl: Positive | None = None
    """Stop an update once the policy has moved 1.5 times this far; none without."""

    network: str = "auto"
    """Layer widths such as 64x64, or cnn, table, auto."""

    activation: Literal["tanh", "relu", "swish"] = "tanh"
    """Activation of an MLP's layers."""

    shared: bool = False
    """One torso for actor and critic instead of a network each."""

    stagger: bool = False
    """Start the envs at random phases of an episode instead of all at a reset."""

    on_nonfinite: Literal["stop", "drop"] = "stop"
    """What to do with a NaN or infinity from an env: stop, or leave those rows out."""

    @cached_property
    def form(self) -> "PPOSettings":
        """Return the settings that programs are compiled for, without those passed as numbers."""
        return PPOSettings(
            value_clip=None if self.value_clip is None else 1.0,
            max_grad_norm=self.max_grad_norm,
            normalise_advantages=self.normalise_advantages,
            target_kl=self.target_kl,
            on_nonfinite=self.on_nonfinite,
        )

    @property
    def parts(self) -> tuple[str, ...]:
        """Return what is trained apart: each part is a program of its own.

        Actor and critic that share no weight, no gradient norm and no stopping rule do not
        depend on each other within an update, so they can run side by side.
        """
        together = self.shared or self.clip_jointly or self.target_kl is not None
        return ("both",) if together else ("actor", "critic")


# Early, middle and final: where a run's stages are taken unless the user says otherwise.
_DEFAULT_SHARES = (0.1, 0.5, 1.0)


class LayoutLike(Protocol):
    """How an update gets and uses its samples."""

    @property
    def envs(self) -> int: ...

    @property
    def steps(self) -> int: ...

    def updates(self, total: int) -> int: ...

    def as_dict(self) -> dict[str, int]: ...


class Settings(Protocol):
    """What decides the numbers besides the layout."""

    @property
    def on_nonfinite(self) -> str: ...

    def as_dict(self) -> dict[str, Any]: ...


AnyLayout = TypeVar("AnyLayout", bound=LayoutLike, covariant=True)
AnySettings = TypeVar("AnySettings", bound=Settings, covariant=True)


@dataclass(frozen=True)
class RunPlan(Generic[AnyLayout, AnySettings]):
    """Env, layout, length, seed and settings of a run, and the updates after which stages are kept.

    vector: how host envs run, "sync" or "async"; it does not change the numbers.
    """

    algo: ClassVar[str]

    env: str
    layout: AnyLayout
    total: int
    seed: int
    settings: AnySettings
    stages: tuple[int, ...]
    vector: str = "sync"

    def __post_init__(self) -> None:
        SEED.check(self.seed, "seed")
        STEPS.check(self.total, "total")

    @property
    def updates(self) -> int:
        return self.layout.updates(self.total)

    def identity(self) -> dict[str, Any]:
        """Return everything that decides the run's numbers, as plain values."""
        return {
            "algo": self.algo,
            "env": self.env,
            "layout": self.layout.as_dict(),
            "total": self.total,
            "seed": self.seed,
            "settings": self.settings.as_dict(),
            "stages": list(self.stages),
        }


AnyPlan = RunPlan[LayoutLike, Settings]


class PPOPlan(RunPlan[Layout, PPOSettings]):
    """A run of PPO."""

    algo = "ppo"


def stage_updates(
    updates: int, *, count: int | None = None, save_at: tuple[int, ...] = ()
) -> tuple[int, ...]:
    """Return the updates after which stages are kept: three, `count`, or those given."""
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
