"""The four tasks and their hyper-parameters, as data.

They are the defaults of Stable-Baselines3's PPO in 2048 samples an update, 8 envs wide. Pendulum
hardly learns with these, so it gets the discount and step size that SB3's zoo gives it.
"""

from dataclasses import asdict, dataclass
from typing import Any


@dataclass(frozen=True)
class Task:
    """One env, one layout, one set of hyper-parameters, in nbyt's words; both libraries get it."""

    env: str
    updates: int
    envs: int = 8
    steps: int = 256
    minibatch: int = 64
    epochs: int = 10
    learning_rate: float = 3e-4
    gamma: float = 0.99
    lam: float = 0.95
    clip: float = 0.2
    entropy_coefficient: float = 0.0
    squared_error_coefficient: float = 0.5
    max_grad_norm: float = 0.5
    widths: tuple[int, ...] = (64, 64)

    @property
    def batch(self) -> int:
        """Samples of one update."""
        return self.envs * self.steps

    @property
    def total(self) -> int:
        """Environment steps of a whole run, a multiple of the batch."""
        return self.updates * self.batch

    def as_dict(self) -> dict[str, Any]:
        """Plain values, as they are kept beside every result."""
        return {**asdict(self), "widths": list(self.widths)}


TASKS = (
    Task("CartPole-v1", updates=40),
    Task("Acrobot-v1", updates=49),
    Task("Pendulum-v1", updates=30, envs=4, steps=1024, learning_rate=1e-3, gamma=0.9),
    Task("HalfCheetah-v5", updates=147),
)

LIBRARIES = ("nbyt", "sb3")
EVALUATION_EPISODES = 20
RANDOM_EPISODES = 50
FIRST_SEEDS = 8
MORE_SEEDS = 4
MOST_SEEDS = 32


def seed_of(number: int) -> int:
    """The seed of run `number`.

    A hundred apart, because SB3 gives env i the seed plus i: neighbours would share their resets.
    """
    return 100 * number
