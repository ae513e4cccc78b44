"""The tasks that DQN is asked to solve, as command lines of nbyt."""

from dataclasses import dataclass

# The settings were looked for with seeds from 0 on; these are others.
_FIRST_SEED = 100


@dataclass(frozen=True)
class Task:
    """An env, options of `nbyt train --algo dqn`, and the mean return that counts as solved.

    needed: how many of the seeds have to reach it.
    """

    env: str
    options: str
    goal: float
    seeds: int
    needed: int

    def command(self, number: int, out: str) -> list[str]:
        """The command line of one run."""
        options = [*self.options.split(), "--seed", str(_FIRST_SEED + number), "--out", out]
        return ["train", self.env, "--algo", "dqn", *options, "--json", "--quiet"]


TASKS = (
    Task(
        "CartPole-v1",
        "--steps 64 --gradient-steps 32 --minibatch 128 --buffer 99_840 --warm-up 1024 "
        "--network 128x128 --learning-rate 1e-3 --anneal --huber 100 --max-grad-norm 100 "
        "--target-every 512 --exploration 0.2 --total 120_000",
        goal=500.0,
        seeds=5,
        needed=4,
    ),
    Task(
        "Breakout-MinAtar",
        "--envs 8 --steps 1 --gradient-steps 2 --minibatch 32 --buffer 100_000 --warm-up 5000 "
        "--learning-rate 2.5e-4 --double --target-every 4000 --total 300_000",
        goal=4.0,
        seeds=2,
        needed=2,
    ),
)
