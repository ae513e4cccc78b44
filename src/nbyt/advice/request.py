"""The question: an env, a batch, and all that decides the answer, checked and complete."""

import shlex
from collections.abc import Sequence
from dataclasses import dataclass, replace
from math import log
from typing import Any

from nbyt.envs.protocol import DeviceEnv, HostEnv
from nbyt.errors import LayoutError, UsageError
from nbyt.layout import Layout, nearest_divisors
from nbyt.measure.measurement import OBJECTIVES
from nbyt.measure.request import fragment_lengths
from nbyt.numbers import COUNT, MEMORY, PASSES, PROBABILITIES, SIZE, STEPS, require
from nbyt.rng import require_seed
from nbyt.train.plan import PPOPlan, PPOSettings

# Lambdas of the map of T and lambda, beside the one that is trained with.
MAP = (0.0, 0.8, 0.95, 1.0)


@dataclass(frozen=True)
class Effort:
    """What one word on the command line stands for.

    stages: measured in each training. chains: of each pool. trainings: with different layouts.
    looks: at which stages other lambdas, phase and the sources of noise are measured too: none,
    the one that decides, or all. more: how many times the chains are taken where those tell no
    two layouts apart, on envs that run on the device.
    """

    name: str
    stages: int
    chains: int
    trainings: int
    looks: str
    more: int = 4


EFFORTS = {
    one.name: one
    for one in (
        Effort("quick", 4, 64, 1, "none", more=1),
        Effort("normal", 6, 128, 1, "one"),
        Effort("thorough", 7, 256, 2, "all"),
    )
}


def effort(name: str) -> Effort:
    """The effort of that name, or a UsageError that lists them."""
    if name not in EFFORTS:
        raise UsageError(
            f"no effort is called '{name}'", where="effort", fix=f"one of: {', '.join(EFFORTS)}"
        )
    return EFFORTS[name]


HOST_ENVS = 64
MINIBATCH = 256
EPOCHS = 4
# A run that has made so many updates, or seen so many samples, has left its first policy behind.
_UPDATES, _SAMPLES = 30, 60_000
# Stages are closer together early on, where a policy changes most with every update.
_KEPT, _FIRST_SHARE = 12, 1 / 30
# T of the run whose stages are measured: neither end of the scale; or one towards each.
_USUAL, _OPPOSITE = (32,), (8, 256)
# Whose gradient decides: one of those that are measured, or actor and critic both.
BOTH = "both"
DECIDERS = (BOTH, *OBJECTIVES)


@dataclass(frozen=True)
class AdviceRequest:
    """What is asked.

    steps: the T to compare at this batch. trained: T of each training. lambdas: the first is
    trained with. stage_updates: after which updates a stage is kept; `stages` of them are measured.
    """

    env: DeviceEnv | HostEnv
    batch: int
    steps: tuple[int, ...]
    effort: Effort
    trained: tuple[int, ...]
    lambdas: tuple[float, ...]
    total: int
    stage_updates: tuple[int, ...]
    stages: int
    minibatch: int
    epochs: int
    settings: PPOSettings
    max_envs: int
    objective: str = BOTH
    vector: str = "sync"
    seed: int = 0
    memory: int = 2**30

    @property
    def shown(self) -> str:
        """The gradient whose numbers are shown: the actor's where actor and critic decide."""
        return "actor" if self.objective == BOTH else self.objective

    @property
    def layouts(self) -> tuple[tuple[int, int], ...]:
        """Every (envs, steps) that is compared."""
        return tuple((self.batch // steps, steps) for steps in self.steps)

    def layout(self, steps: int) -> Layout:
        """The layout with so many steps."""
        return Layout(self.batch // steps, steps, self.minibatch, self.epochs)

    def plan(self, steps: int) -> PPOPlan:
        """The training with so many steps."""
        return PPOPlan(
            self.env.id,
            self.layout(steps),
            self.total,
            self.seed,
            self.settings,
            self.stage_updates,
            self.vector,
        )

    def command(self) -> str:
        """The command line that asks this question; what is as usual is left out."""
        usual = make_advice_request(
            self.env, batch=self.batch, effort=self.effort, max_envs=self.max_envs
        )
        words: dict[str, Any] = {"batch": self.batch, "effort": self.effort.name}
        words |= {"seed": self.seed}
        if self.max_envs != (HOST_ENVS if isinstance(self.env, HostEnv) else self.batch):
            words["max-envs"] = self.max_envs
        for name in ("steps", "lambdas", "total", "minibatch", "epochs", "objective"):
            own = getattr(self, name)
            if own != getattr(usual, name):
                words[name.removesuffix("s") if name == "lambdas" else name] = _text(own)
        if self.stages != usual.stages:
            words["stages"] = self.stages
        for name, value in self.settings.as_dict().items():
            if name != "lambda" and value != PPOSettings().as_dict()[name]:
                words[name.replace("_", "-")] = value
        flags = [
            f"--{name}" if value is True else f"--{name} {value}" for name, value in words.items()
        ]
        return f"nbyt advise {shlex.quote(self.env.id)} {' '.join(flags)}"

    def identity(self) -> dict[str, Any]:
        """All that decides what is trained and measured; how that is ranked is not part of it."""
        return {
            "command": "advise",
            "env": self.env.id,
            "batch": self.batch,
            "steps": list(self.steps),
            "effort": self.effort.name,
            "chains": self.effort.chains,
            "trained": list(self.trained),
            "lambdas": list(self.lambdas),
            "total": self.total,
            "stages": self.stages,
            "kept": list(self.stage_updates),
            "minibatch": self.minibatch,
            "epochs": self.epochs,
            "settings": self.settings.as_dict(),
            "seed": self.seed,
        }


def make_advice_request(
    env: DeviceEnv | HostEnv,
    *,
    batch: int,
    effort: Effort,
    steps: Sequence[int] = (),
    current: int | None = None,
    lambdas: Sequence[float] = (),
    total: int | None = None,
    stages: int | None = None,
    minibatch: int | None = None,
    epochs: int = EPOCHS,
    settings: PPOSettings | None = None,
    max_envs: int | None = None,
    objective: str = BOTH,
    vector: str = "sync",
    seed: int = 0,
    memory: int = 2**30,
) -> AdviceRequest:
    """The question with every default filled in. current: a T that must be among those compared."""
    batch, epochs = SIZE.check(batch, "batch"), PASSES.check(epochs, "epochs")
    max_envs, minibatch = require(SIZE, max_envs=max_envs, minibatch=minibatch)
    (stages,), (total,) = require(COUNT, stages=stages), require(STEPS, total=total)
    memory = int(MEMORY.check(memory, "memory"))
    most = max_envs or (HOST_ENVS if isinstance(env, HostEnv) else batch)
    lengths = lengths_of(batch, steps, most, current)
    if objective not in DECIDERS:
        raise UsageError(
            f"no objective is called '{objective}'",
            where="objective",
            fix=f"one of: {', '.join(DECIDERS)}",
        )
    settings = settings or PPOSettings()
    lambdas = PROBABILITIES.check(lambdas, "lambda") or _lambdas(settings.lam, effort)
    settings = replace(settings, lam=lambdas[0])
    total = total or max(_SAMPLES, _UPDATES * batch)
    wanted = _OPPOSITE if effort.trainings == 2 else _USUAL
    trained = tuple(dict.fromkeys(_nearest(lengths, length) for length in wanted))
    size = minibatch or default_minibatch(batch)
    updates = Layout(batch // trained[0], trained[0], size, epochs).updates(total)
    return AdviceRequest(
        env,
        batch,
        lengths,
        effort,
        trained,
        lambdas,
        total,
        stage_updates(updates, stages or effort.stages),
        stages or effort.stages,
        size,
        epochs,
        settings,
        most,
        objective,
        vector,
        require_seed(seed),
        memory,
    )


def _text(value: Any) -> str:
    """A value as the command line reads it."""
    return ",".join(f"{one:g}" for one in value) if isinstance(value, tuple) else str(value)


def stage_updates(updates: int, stages: int) -> tuple[int, ...]:
    """The updates after which a stage is kept: the last one, and earlier ones in equal ratios.

    They are more than will be measured: which of them tell most is known when training is done.
    """
    if not 1 <= stages <= updates:
        raise UsageError(
            f"{stages} stages of a run with {updates} updates",
            where="stages",
            fix="ask for fewer stages, or lengthen --total",
        )
    count = min(updates, max(_KEPT, 2 * stages))
    first = max(1.0, _FIRST_SHARE * updates)
    ratio = (updates / first) ** (1 / max(count - 1, 1))
    return tuple(sorted({round(updates / ratio**place) for place in range(count)}))


def lengths_of(
    batch: int, steps: Sequence[int], most: int, current: int | None = None
) -> tuple[int, ...]:
    """The T that a batch is compared at, with at most so many envs."""
    found = set(fragment_lengths(batch, steps or None))
    if current is not None:
        found |= set(fragment_lengths(batch, [current]))
    lengths = tuple(sorted(length for length in found if batch // length <= most))
    if len(lengths) < 2:
        near = ", ".join(map(str, _rounder(batch)))
        raise LayoutError(
            f"a batch of {batch} has {len(lengths) or 'no'} split with at most {most} envs: there "
            "is nothing to compare",
            where="batch",
            fix=f"raise --max-envs, or take a batch with more divisors, such as {near}",
        )
    return lengths


def _rounder(batch: int) -> list[int]:
    """The powers of two around a batch."""
    power = 1 << max(batch.bit_length() - 1, 2)
    return [power, 2 * power]


def _lambdas(own: float, effort: Effort) -> tuple[float, ...]:
    others = () if effort.looks == "none" else MAP
    return tuple(dict.fromkeys((own, *others)))


def default_minibatch(batch: int) -> int:
    """The mini-batch for users who name none."""
    return nearest_divisors(batch, MINIBATCH)[0]


def _nearest(lengths: Sequence[int], wanted: int) -> int:
    return min(lengths, key=lambda length: abs(log(length / wanted)))
