"""What an audit is asked about: the sizes, and how an index tells the env and the step."""

from dataclasses import dataclass
from typing import Literal

import numpy as np
from jaxtyping import Int

from nbyt.errors import LayoutError, UsageError
from nbyt.numbers import PASSES, SIZE, require

Order = Literal["time-major", "env-major"]
ORDERS: tuple[Order, ...] = ("time-major", "env-major")
# A rollout that nobody gave a shape has this many steps, or as many as divide the batch.
_USUAL_STEPS = 128


@dataclass(frozen=True)
class Asked:
    """The sizes of an update; envs and steps are 0 where they are not known.

    order: index t * N + n is step t of env n ("time-major"), or n * T + t is ("env-major").
    """

    batch: int
    minibatch: int
    epochs: int
    envs: int = 0
    steps: int = 0
    order: Order = "time-major"

    @property
    def next_step(self) -> int:
        """How far apart in the index two steps of an env are that follow each other."""
        return self.envs if self.order == "time-major" else 1

    @property
    def next_env(self) -> int:
        """How far apart in the index neighbouring envs are at the same step."""
        return 1 if self.order == "time-major" else self.steps

    def env_of(self, indices: Int[np.ndarray, "..."]) -> Int[np.ndarray, "..."]:
        """The env of each sample."""
        return indices % self.envs if self.order == "time-major" else indices // self.steps

    def as_time_major(self, indices: Int[np.ndarray, "..."]) -> Int[np.ndarray, "..."]:
        """The same samples as t * N + n."""
        if self.order == "time-major":
            return indices
        return indices % self.steps * self.envs + indices // self.steps


def ask(
    batch: int, minibatch: int, epochs: int, envs: int | None, steps: int | None, order: str
) -> Asked:
    """The question, if its sizes fit together; one of envs and steps gives the other."""
    batch, minibatch = require(SIZE, batch=batch, minibatch=minibatch)
    epochs, (envs, steps) = PASSES.check(epochs, "epochs"), require(SIZE, envs=envs, steps=steps)
    if order not in ORDERS:
        raise UsageError(
            f"'{order}' is no order of samples", where="order", fix=f"one of {', '.join(ORDERS)}"
        )
    if minibatch > batch:
        raise LayoutError(
            f"a mini-batch of {minibatch} is larger than the batch of {batch}",
            where="minibatch",
            fix=f"at most {batch}",
        )
    found = {name: value for name, value in (("envs", envs), ("steps", steps)) if value is not None}
    for name, value in found.items():
        if batch % value:
            raise LayoutError(
                f"{batch} samples are no whole number of {value} {name}",
                where=name,
                fix=f"use a divisor of {batch}",
            )
    if len(found) == 2 and found["envs"] * found["steps"] != batch:
        raise LayoutError(
            f"{envs} envs x {steps} steps are {found['envs'] * found['steps']} samples, "
            f"not {batch}",
            where="envs",
            fix=f"give --envs {batch // found['steps']}, or leave one of the two out",
        )
    own_envs = found.get("envs") or (batch // found["steps"] if found else 0)
    known: Order = "env-major" if order == "env-major" else "time-major"
    return Asked(batch, minibatch, epochs, own_envs, batch // own_envs if own_envs else 0, known)


def usual_split(batch: int) -> tuple[int, int]:
    """Envs and steps of a batch that was given no shape: at most 128 steps."""
    steps = max(n for n in range(1, min(_USUAL_STEPS, batch) + 1) if batch % n == 0)
    return batch // steps, steps
