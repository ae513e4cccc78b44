"""AdviceRequest: an env, a batch, and every setting that decides the advice, checked."""

import shlex
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

from nbyt.advice.costs import MEASURED, CostSource, cost_source
from nbyt.envs.protocol import DeviceEnv, HostEnv, usual_envs
from nbyt.errors import UsageError
from nbyt.layout import Layout, lengths_of, nearest_divisors
from nbyt.numbers import MEMORY, PASSES, PROBABILITIES, SEED, SIZE, STAGES, STEPS, TRAININGS
from nbyt.results.advice import GOALS, Goal
from nbyt.training.plan import EPOCHS, HOST_ENVS, MINIBATCH, PPOSettings

# The name of the progress bar of the whole work.
OVERALL = "parts done"
BATCH = 2048
# Lambdas compared in addition to the one that is trained with.
LAMBDAS = (0.0, 0.8, 0.95, 1.0)
# A training has at least so many updates or samples.
_UPDATES, _SAMPLES = 100, 200_000


@dataclass(frozen=True)
class Effort:
    """What --effort stands for.

    trainings: of the race. stages: frozen policies that are measured to explain the answer. chains:
    of each measurement. diagnosed: True if other lambdas, phase and sources of noise are measured.
    """

    name: str
    trainings: float
    stages: int
    chains: int
    diagnosed: bool


EFFORTS = {
    "quick": Effort("quick", 2, 0, 64, False),
    "normal": Effort("normal", 4, 1, 64, False),
    "thorough": Effort("thorough", 8, 3, 128, True),
}


def effort(name: str) -> Effort:
    """Return the effort of that name, or raise a UsageError that lists them."""
    if name not in EFFORTS:
        raise UsageError(
            f"no effort is called '{name}'", where="effort", fix=f"one of: {', '.join(EFFORTS)}"
        )
    return EFFORTS[name]


@dataclass(frozen=True, kw_only=True)
class AdviceRequest:
    """What is asked; made by `make_advice_request`.

    steps: the T to compare at this batch. trainings: of the race, in whole ones. own: T of the
    user's layout. total: env steps of the training that the advice is for. lambdas: the first is
    trained with.
    """

    env: DeviceEnv | HostEnv
    batch: int
    steps: tuple[int, ...]
    objective: Goal
    costs: CostSource
    trainings: float
    total: int
    effort: Effort
    stages: int
    lambdas: tuple[float, ...]
    minibatch: int
    epochs: int
    settings: PPOSettings
    max_envs: int
    own: int | None = None
    vector: str = "sync"
    seed: int = 0
    memory: int = 2**30

    @property
    def layouts(self) -> tuple[tuple[int, int], ...]:
        """Return every (envs, steps) that is compared."""
        return tuple((self.batch // steps, steps) for steps in self.steps)

    def layout(self, steps: int) -> Layout:
        """Return the layout with this T."""
        return Layout(self.batch // steps, steps, self.minibatch, self.epochs)

    def command(self) -> str:
        """Return the command line that asks this, without options that have their defaults."""
        usual = make_advice_request(
            self.env,
            batch=self.batch,
            objective=self.objective,
            effort=self.effort,
            max_envs=self.max_envs,
        )
        words: dict[str, Any] = {"batch": self.batch, "total": self.total, "seed": self.seed}
        if self.max_envs != usual_envs(self.env, self.batch, HOST_ENVS):
            words["max-envs"] = self.max_envs
        if self.own is not None:
            words["current"] = f"{self.batch // self.own}x{self.own}"
        if self.objective != "time":
            words["objective"] = self.objective
        if self.effort.name != "normal":
            words["effort"] = self.effort.name
        if self.steps != usual.steps and self.steps != lengths_of(
            self.batch, (), self.max_envs, self.own
        ):
            words["steps"] = _text(self.steps)
        for name in ("trainings", "lambdas", "minibatch", "epochs", "stages"):
            value = getattr(self, name)
            if value != getattr(usual, name):
                words["lambda" if name == "lambdas" else name] = _text(value)
        if self.costs != usual.costs:
            words["costs"] = shlex.quote(self.costs.text)
        defaults = PPOSettings().as_dict()
        for name, value in self.settings.as_dict().items():
            if name != "lambda" and value != defaults[name]:
                words[name.replace("_", "-")] = value
        flags = [
            f"--{name}" if value is True else f"--{name} {value}" for name, value in words.items()
        ]
        return f"nbyt advise {shlex.quote(self.env.id)} {' '.join(flags)}"

    def identity(self) -> dict[str, Any]:
        """Return what decides the trainings; how many there are is not part of it."""
        return {
            "command": "advise",
            "env": self.env.id,
            "batch": self.batch,
            "steps": list(self.steps),
            "objective": self.objective,
            "costs": self.costs.text,
            "total": self.total,
            "lambdas": list(self.lambdas),
            "minibatch": self.minibatch,
            "epochs": self.epochs,
            "settings": self.settings.as_dict(),
            "seed": self.seed,
        }


def make_advice_request(
    env: DeviceEnv | HostEnv,
    *,
    batch: int = BATCH,
    objective: str = "time",
    trainings: float | None = None,
    costs: str | None = None,
    total: int | None = None,
    effort: Effort = EFFORTS["normal"],
    steps: Sequence[int] = (),
    current: int | None = None,
    lambdas: Sequence[float] | None = None,
    stages: int | None = None,
    minibatch: int | None = None,
    epochs: int = EPOCHS,
    settings: PPOSettings | None = None,
    max_envs: int | None = None,
    vector: str = "sync",
    seed: int = 0,
    memory: int = 2**30,
) -> AdviceRequest:
    """Check the arguments and fill in every default.

    trainings: for the same samples none by default, as racing gained nothing there on the proving
    ground. costs: timed here by default; without a race those of parallel hardware, which need not
    be timed. current: a T that must be compared, as the user has it. minibatch: the divisor of the
    batch nearest to 256 by default.
    """
    if objective not in GOALS:
        message = f"no objective is called '{objective}'"
        raise UsageError(message, where="objective", fix=f"one of: {', '.join(GOALS)}")
    batch, epochs = SIZE.check(batch, "batch"), PASSES.check(epochs, "epochs")
    memory, seed = int(MEMORY.check(memory, "memory")), SEED.check(seed, "seed")
    settings = settings or PPOSettings()
    given = () if lambdas is None else PROBABILITIES.check(lambdas, "lambda")
    lambdas = given or _lambdas(settings.lam, effort)
    usual = usual_envs(env, batch, HOST_ENVS)
    max_envs = usual if max_envs is None else SIZE.check(max_envs, "max_envs")
    usual = nearest_divisors(batch, MINIBATCH)[0]
    minibatch = usual if minibatch is None else SIZE.check(minibatch, "minibatch")
    total = max(_SAMPLES, _UPDATES * batch) if total is None else STEPS.check(total, "total")
    if trainings is None:
        trainings = effort.trainings if objective == "time" else 0.0
    trainings = float(TRAININGS.check(trainings, "trainings"))
    lengths = lengths_of(batch, steps, max_envs, current)
    Layout(batch // lengths[0], lengths[0], minibatch, epochs).updates(total)
    return AdviceRequest(
        env=env,
        batch=batch,
        steps=lengths,
        objective="time" if objective == "time" else "samples",
        costs=cost_source(costs or (MEASURED if trainings else "parallel")),
        trainings=trainings,
        total=total,
        effort=effort,
        stages=effort.stages if stages is None else STAGES.check(stages, "stages"),
        lambdas=lambdas,
        minibatch=minibatch,
        epochs=epochs,
        settings=replace(settings, lam=lambdas[0]),
        max_envs=max_envs,
        own=current,
        vector=vector,
        seed=seed,
        memory=memory,
    )


def _text(value: Any) -> str:
    if isinstance(value, tuple):
        return ",".join(f"{one:g}" for one in value)
    return f"{value:g}" if isinstance(value, float) else str(value)


def _lambdas(trained: float, effort: Effort) -> tuple[float, ...]:
    others = LAMBDAS if effort.diagnosed else ()
    return tuple(dict.fromkeys((trained, *others)))
