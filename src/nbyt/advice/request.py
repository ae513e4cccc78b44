"""AdviceRequest: an env, a batch, and every setting that decides the advice, checked."""

import shlex
from collections.abc import Sequence
from dataclasses import dataclass, replace
from math import log
from typing import Any, get_args

from nbyt.envs.protocol import DeviceEnv, HostEnv
from nbyt.errors import LayoutError, UsageError
from nbyt.layout import Layout, fragment_lengths, nearest_divisors
from nbyt.numbers import COUNT, MEMORY, PASSES, PROBABILITIES, SEED, SIZE, STEPS
from nbyt.results.values import Objective
from nbyt.train.plan import PPOPlan, PPOSettings

# The name of the progress bar of the whole work.
OVERALL = "parts done"


# Lambdas compared in addition to the one that is trained with.
LAMBDAS = (0.0, 0.8, 0.95, 1.0)


@dataclass(frozen=True)
class Effort:
    """What --effort stands for.

    stages: measured per training. chains: per pool. trainings: with different layouts.
    diagnosed: the stages that are diagnosed too (other lambdas, phase, sources of noise): none,
    the one that decides, or all. more: factor by which the chains are increased where all layouts
    tie, on device envs.
    """

    name: str
    stages: int
    chains: int
    trainings: int
    diagnosed: str
    more: int = 4


EFFORTS = {
    "quick": Effort("quick", 4, 64, 1, "none", more=1),
    "normal": Effort("normal", 6, 128, 1, "one"),
    "thorough": Effort("thorough", 7, 256, 2, "all"),
}


def effort(name: str) -> Effort:
    """Return the effort of that name, or raise a UsageError that lists them."""
    if name not in EFFORTS:
        raise UsageError(
            f"no effort is called '{name}'", where="effort", fix=f"one of: {', '.join(EFFORTS)}"
        )
    return EFFORTS[name]


HOST_ENVS = 64
MINIBATCH = 256
EPOCHS = 4
# After this many updates or samples, a run has moved away from its initial policy.
_UPDATES, _SAMPLES = 30, 60_000
# Stages are denser early on, where a policy changes most with every update.
_KEPT, _FIRST_SHARE = 12, 1 / 30
# T of the training whose stages are measured: in the middle, or one towards each end.
_USUAL, _OPPOSITE = (32,), (8, 256)
# The gradient that decides: a measured one, or the weaker of actor and critic.
BOTH = "both"
DECIDERS = (BOTH, *get_args(Objective))


@dataclass(frozen=True, kw_only=True)
class AdviceRequest:
    """What is asked; made by `make_advice_request`.

    steps: the T to compare at this batch. trained: T of each training. lambdas: the first is
    trained with. stage_updates: the updates after which a stage is saved; `stages` of them are
    measured.
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
        """Return the gradient whose numbers are shown: the actor's where both decide."""
        return "actor" if self.objective == BOTH else self.objective

    @property
    def layouts(self) -> tuple[tuple[int, int], ...]:
        """Return every (envs, steps) that is compared."""
        return tuple((self.batch // steps, steps) for steps in self.steps)

    def layout(self, steps: int) -> Layout:
        """Return the layout with this T."""
        return Layout(self.batch // steps, steps, self.minibatch, self.epochs)

    def plan(self, steps: int) -> PPOPlan:
        """Return the plan of the training with this T."""
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
        """Return the command line that asks this, without options that have their defaults."""
        usual = make_advice_request(
            self.env, batch=self.batch, effort=self.effort, max_envs=self.max_envs
        )
        words: dict[str, Any] = {"batch": self.batch, "effort": self.effort.name, "seed": self.seed}
        if self.max_envs != (HOST_ENVS if isinstance(self.env, HostEnv) else self.batch):
            words["max-envs"] = self.max_envs
        for name in ("steps", "lambdas", "total", "minibatch", "epochs", "objective"):
            value = getattr(self, name)
            if value != getattr(usual, name):
                words["lambda" if name == "lambdas" else name] = _text(value)
        if self.stages != usual.stages:
            words["stages"] = self.stages
        defaults = PPOSettings().as_dict()
        for name, value in self.settings.as_dict().items():
            if name != "lambda" and value != defaults[name]:
                words[name.replace("_", "-")] = value
        flags = [
            f"--{name}" if value is True else f"--{name} {value}" for name, value in words.items()
        ]
        return f"nbyt advise {shlex.quote(self.env.id)} {' '.join(flags)}"

    def identity(self) -> dict[str, Any]:
        """Return what decides the training and the measurements; the ranking is not part of it."""
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
    lambdas: Sequence[float] | None = None,
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
    """Check the arguments and fill in every default.

    current: a T that must be compared, as the user has it. minibatch: the divisor of the batch
    nearest to 256 by default. total: at least 30 updates by default.
    """
    batch, epochs = SIZE.check(batch, "batch"), PASSES.check(epochs, "epochs")
    memory, seed = int(MEMORY.check(memory, "memory")), SEED.check(seed, "seed")
    settings = settings or PPOSettings()
    given = () if lambdas is None else PROBABILITIES.check(lambdas, "lambda")
    lambdas = given or _lambdas(settings.lam, effort)
    usual = HOST_ENVS if isinstance(env, HostEnv) else batch
    max_envs = usual if max_envs is None else SIZE.check(max_envs, "max_envs")
    usual = nearest_divisors(batch, MINIBATCH)[0]
    minibatch = usual if minibatch is None else SIZE.check(minibatch, "minibatch")
    stages = effort.stages if stages is None else COUNT.check(stages, "stages")
    usual = max(_SAMPLES, _UPDATES * batch)
    total = usual if total is None else STEPS.check(total, "total")
    if objective not in DECIDERS:
        message = f"no objective is called '{objective}'"
        raise UsageError(message, where="objective", fix=f"one of: {', '.join(DECIDERS)}")
    lengths = lengths_of(batch, steps, max_envs, current)
    wanted = _OPPOSITE if effort.trainings == 2 else _USUAL
    trained = tuple(
        dict.fromkeys(min(lengths, key=lambda t: abs(log(t / near))) for near in wanted)
    )
    updates = Layout(batch // trained[0], trained[0], minibatch, epochs).updates(total)
    return AdviceRequest(
        env=env,
        batch=batch,
        steps=lengths,
        effort=effort,
        trained=trained,
        lambdas=lambdas,
        total=total,
        stage_updates=stage_updates(updates, stages),
        stages=stages,
        minibatch=minibatch,
        epochs=epochs,
        settings=replace(settings, lam=lambdas[0]),
        max_envs=max_envs,
        objective=objective,
        vector=vector,
        seed=seed,
        memory=memory,
    )


def _text(value: Any) -> str:
    return ",".join(f"{one:g}" for one in value) if isinstance(value, tuple) else str(value)


def stage_updates(updates: int, stages: int) -> tuple[int, ...]:
    """Return the updates after which a stage is saved: the last, and earlier ones in equal ratios.

    There are more than will be measured; those are chosen when the returns are known.
    """
    if not 1 <= stages <= updates:
        message = f"{stages} stages of a run with {updates} updates"
        raise UsageError(message, where="stages", fix="ask for fewer stages, or lengthen --total")
    count = min(updates, max(_KEPT, 2 * stages))
    first = max(1.0, _FIRST_SHARE * updates)
    ratio = (updates / first) ** (1 / max(count - 1, 1))
    return tuple(sorted({round(updates / ratio**place) for place in range(count)}))


def lengths_of(
    batch: int, steps: Sequence[int], most: int, current: int | None = None
) -> tuple[int, ...]:
    """Return the T to compare: those with at most so many envs."""
    known = set(fragment_lengths(batch, steps or None))
    if current is not None:
        known |= set(fragment_lengths(batch, [current]))
    lengths = tuple(sorted(length for length in known if batch // length <= most))
    if len(lengths) < 2:
        power = 1 << max(batch.bit_length() - 1, 2)
        near = f"{power}, {2 * power}"
        raise LayoutError(
            f"a batch of {batch} has {len(lengths) or 'no'} split with at most {most} envs: there "
            "is nothing to compare",
            where="batch",
            fix=f"raise --max-envs, or take a batch with more divisors, such as {near}",
        )
    return lengths


def _lambdas(trained: float, effort: Effort) -> tuple[float, ...]:
    others = () if effort.diagnosed == "none" else LAMBDAS
    return tuple(dict.fromkeys((trained, *others)))
