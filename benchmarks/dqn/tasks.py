"""The tasks that DQN is asked to solve, as command lines of nbyt."""

from dataclasses import dataclass


@dataclass(frozen=True)
class Task:
    """An env, options of `nbyt train --algo dqn`, and the mean return that counts as solved.

    needed: how many of the seeds have to reach it. random: the mean return of random actions.
    """

    env: str
    options: str
    goal: float
    seeds: int
    needed: int

    def command(self, seed: int, out: str) -> list[str]:
        """The command line of one seed."""
        options = [*self.options.split(), "--seed", str(seed), "--out", out]
        return ["train", self.env, "--algo", "dqn", *options, "--json", "--quiet"]


BREAKOUT = Task(
    "gymnax:Breakout-MinAtar",
    "--envs 8 --steps 1 --gradient-steps 2 --minibatch 32 --buffer 100_000 --warm-up 5000 "
    "--learning-rate 2.5e-4 --double --target-every 4000 --total 1_000_000",
    goal=4.0,
    seeds=2,
    needed=2,
)
