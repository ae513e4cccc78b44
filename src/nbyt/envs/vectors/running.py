"""The running rows of a vector env, as collectors use them: checked, named, and maybe only some.

An env with a fixed N serves layouts with fewer envs too: all N are stepped, and the first rows are
looked at. It is built once, so several users take turns: who comes back begins anew, after a row
that is no experience.
"""

from typing import Any

import numpy as np

from nbyt.envs.local import PlacedEnvs, hung, malformed, raised
from nbyt.envs.protocol import HostStep
from nbyt.envs.user_code import TimeUpError, Watchdog, calling_user_code
from nbyt.envs.vectors.kinds import Vector
from nbyt.errors import EnvError, EnvUsageError


class Turns:
    """Whose turn it is to step a vector env."""

    holder: Any = None


class RunningVector(PlacedEnvs):
    """N rows of a vector env that has at least so many.

    turns: of an env that is built once and stays; without, the env is closed with its rows.
    """

    def __init__(
        self,
        env_id: str,
        vector: Vector,
        envs: int,
        *,
        turns: Turns | None = None,
        step_seconds: float = 60.0,
    ) -> None:
        self.id, self.envs, self.restarts = env_id, envs, vector.restarts
        self._vector, self._turns = vector, turns
        self._seeds, self._steps = [], 0
        self._watchdog = Watchdog(step_seconds, lambda: self._steps)
        space = vector.action_space
        self._idle = np.zeros((vector.envs - envs, *(space.shape or ())), space.dtype)
        self._action_dtype = space.dtype
        self._shape = (vector.envs,)
        self._seen_shape = (vector.envs, *(vector.observation_space.shape or ()))

    def reset(self, seeds: list[int]) -> np.ndarray:
        """Return the first observations, N rows."""
        self._seeds, self._steps = list(seeds), 0
        self._take_turn()
        # Rows that nobody looks at have seeds of their own too.
        more = [seeds[0] + k for k in range(len(seeds), self._vector.envs)]
        with self._calling("in reset"), self._watchdog:
            rows = self._vector.reset([*seeds, *more])
        self._require(rows, "observation", self._seen_shape)
        return rows[: self.envs]

    def step(self, action: np.ndarray) -> HostStep:
        """Step every env; filler rows of next-step resets are not valid."""
        if self._take_turn():
            return self._begun_anew()
        actions = np.array(action, dtype=self._action_dtype)
        if len(self._idle):
            actions = np.concatenate([actions, self._idle])
        with self._calling("in step"), self._watchdog:
            made = self._vector.step(actions)
        self._check(made)
        self._steps += 1
        return made if self.envs == self._vector.envs else self._first_of(made)

    def restart(self, mask: np.ndarray, observation: np.ndarray) -> np.ndarray:
        """Begin new episodes where the mask is set, and return the observations of all envs."""
        more = self._vector.envs - self.envs
        whole = np.concatenate([mask, np.zeros(more, bool)])
        rows = np.concatenate([observation, np.repeat(observation[:1], more, axis=0)])
        with self._calling("in reset"), self._watchdog:
            return self._vector.restart(whole, rows)[: self.envs]

    def spread(self, counts: np.ndarray) -> None:
        """Let env i be counts[i] steps into its episode, for envs that cannot be restarted."""
        whole = np.resize(counts, self._vector.envs)
        with self._calling("while its starts were staggered"):
            done = self._vector.spread(whole)
        if not done:
            raise EnvUsageError(
                f"the starts of '{self.id}' cannot be staggered: {self._vector.kind} has no way to "
                "reset one env alone",
                where="stagger",
                fix="leave it out, or give the env episode_length_buf, or autoreset mode DISABLED "
                'with options={"reset_mask": ...}',
            )

    def close(self) -> None:
        """Close the env, unless it stays."""
        if self._turns is not None:
            self._turns.holder = None if self._turns.holder is self else self._turns.holder
            return
        with self._calling("in close"):
            self._vector.close()

    def _take_turn(self) -> bool:
        """Return True if another one has stepped the env since."""
        if self._turns is None or self._turns.holder is self:
            return False
        self._turns.holder = self
        return self._steps > 0

    def _begun_anew(self) -> HostStep:
        """Return a row that is no experience: every episode is a new one."""
        rows = self.reset(self._seeds)
        no = np.zeros(self.envs, bool)
        return HostStep(rows, np.zeros(self.envs), no, no, no.copy(), None)

    def _first_of(self, made: HostStep) -> HostStep:
        """Return the rows that are looked at."""
        first = slice(0, self.envs)
        rows, final = made.observation[first], made.final_observation
        ended = (made.terminated[first] | made.truncated[first]).any()
        if final is not None:
            # The very same array, where the env resets in the next step.
            final = rows if final is made.observation else final[first]
        flags = (made.reward[first], made.terminated[first], made.truncated[first])
        return HostStep(rows, *flags, made.valid[first], final if ended else None)

    def _check(self, made: HostStep) -> None:
        """Refuse an answer whose shapes are not those that were promised."""
        self._require(made.observation, "observation", self._seen_shape)
        for name in ("reward", "terminated", "truncated"):
            self._require(getattr(made, name), name, self._shape)
        if made.final_observation is not None:
            self._require(made.final_observation, "final observation", self._seen_shape)

    def _require(self, rows: np.ndarray, name: str, shape: tuple[int, ...]) -> None:
        if rows.shape != shape:
            said = f"{name} of shape {rows.shape}"
            row = rows[0] if rows.shape[:1] == self._shape else said
            raise malformed(self.id, name, row, shape[1:], self.where(0))

    def _calling(self, doing: str) -> calling_user_code:
        return calling_user_code(lambda error: self._failure(error, doing))

    def _failure(self, error: BaseException, doing: str) -> EnvError:
        if isinstance(error, EnvError):
            return error
        where = f"all {self._vector.envs} envs, step {self._steps}"
        if isinstance(error, TimeUpError):
            return hung(self.id, self._watchdog.seconds, doing, self._steps, where)
        return raised(self.id, error, doing, where)
