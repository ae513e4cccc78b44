"""N Gymnasium envs stepped in a plain loop, in this process, resetting in the same step.

Why not `gymnasium.vector.SyncVectorEnv`: it merges N info dictionaries that nobody here reads, and
a loop without that is about a third faster on CartPole. The loop also knows which env it is in, so
an env that raises is named.
"""

from collections.abc import Callable
from contextlib import suppress

import numpy as np
from gymnasium import Env

from nbyt.envs.protocol import HostStep
from nbyt.envs.user_code import TimeUpError, Watchdog, calling_user_code
from nbyt.errors import EnvError, EnvUsageError, described, shown
from nbyt.system import how_it_ended

# One number that others may see.
Place = list[int] | memoryview


class PlacedEnvs:
    """Running envs that know their seeds and how many steps they have taken."""

    _seeds: list[int]
    _steps: int

    def where(self, env: int) -> str:
        """Say where env number `env` is now, as errors give it."""
        seed = f", seed {self._seeds[env]}" if env < len(self._seeds) else ""
        return f"env {env}, step {self._steps}{seed}"


class LocalEnvs(PlacedEnvs):
    """N running envs of one process.

    place: where the number of the env at work is written, for those who look from outside.
    """

    def __init__(
        self,
        env_id: str,
        makers: list[Callable[[], Env]],
        *,
        step_seconds: float = 60.0,
        place: Place | None = None,
    ) -> None:
        self.id = env_id
        self.envs = len(makers)
        self._seeds, self._steps = [], 0
        self._place: Place = [0] if place is None else place
        self._running: list[Env] = []
        self._watchdog = Watchdog(step_seconds, lambda: (self._steps, self._place[0]))
        self._build(makers)
        self._observation_space = self._running[0].observation_space
        self._action_dtype = self._running[0].action_space.dtype

    def reset(self, seeds: list[int]) -> np.ndarray:
        """Return the first observations, N rows, env i started with seeds[i]."""
        self._seeds, self._steps = list(seeds), 0
        rows: list = []
        with self._calling("in reset"), self._watchdog:
            for env, seed in zip(self._running, seeds, strict=True):
                self._place[0] = len(rows)
                observation, _ = env.reset(seed=seed)
                rows.append(observation)
        return self._stack(rows)

    def step(self, action: np.ndarray) -> HostStep:
        """Step every env; envs whose episode ended are already reset."""
        # A copy, because an env may write into its action and the caller still needs it.
        actions = np.array(action, dtype=self._action_dtype)
        finals: dict[int, np.ndarray] = {}
        with self._calling("in step"), self._watchdog:
            columns = self._loop(actions, finals)
        observations, rewards, terminated, truncated = columns
        step = HostStep(
            self._stack(observations),
            self._numbers(rewards, "reward", np.dtype(np.float64)),
            self._numbers(terminated, "terminated", np.dtype(np.bool_)),
            self._numbers(truncated, "truncated", np.dtype(np.bool_)),
            np.ones(self.envs, bool),
            self._final(finals) if finals else None,
        )
        self._steps += 1
        return step

    def restart(self, mask: np.ndarray, observation: np.ndarray) -> np.ndarray:
        """Begin new episodes where the mask is set, and return the observations of all envs."""
        fresh = observation.copy()
        with self._calling("in reset"), self._watchdog:
            for env in np.flatnonzero(mask):
                self._place[0] = int(env)
                fresh[env], _ = self._running[env].reset()
        return fresh

    def close(self) -> None:
        """Close every env; the first that raises is named after all were closed."""
        failed = None
        for at, env in enumerate(self._running):
            self._place[0] = at
            try:
                with self._calling("in close"), self._watchdog:
                    env.close()
            except EnvError as error:
                failed = failed or error
        self._running = []
        if failed:
            raise failed

    def _build(self, makers: list[Callable[[], Env]]) -> None:
        try:
            with self._calling("while it was built"):
                for make in makers:
                    self._place[0] = len(self._running)
                    self._running.append(make())
        except EnvError:
            with suppress(EnvError):
                self.close()
            raise
        if len({id(env) for env in self._running}) < self.envs:
            raise EnvUsageError(
                f"'{self.id}' returned the same env object twice",
                fix="make the factory build a new env on every call",
            )

    def _loop(self, actions: np.ndarray, finals: dict[int, np.ndarray]) -> tuple[list, ...]:
        observations, rewards, ends, cuts = [], [], [], []
        place = self._place
        for at, (env, action) in enumerate(zip(self._running, actions, strict=True)):
            place[0] = at
            observation, reward, terminated, truncated, _ = env.step(action)
            if terminated or truncated:
                # Copied, because some envs hand out one array for ever and reset writes into it.
                finals[at] = np.array(observation)
                observation, _ = env.reset()
            observations.append(observation)
            rewards.append(reward)
            ends.append(terminated)
            cuts.append(truncated)
        return observations, rewards, ends, cuts

    def _stack(self, rows: list) -> np.ndarray:
        return self._numbers(rows, "observation", self._observation_space.dtype)

    def _numbers(self, rows: list, name: str, dtype: np.dtype | None) -> np.ndarray:
        """Stack the rows; the shape is compared so that nothing is broadcast silently."""
        shape = self._observation_space.shape if name == "observation" else ()
        try:
            stacked = np.array(rows, dtype=dtype)
        except (ArithmeticError, TypeError, ValueError):
            raise self._malformed(rows, name, shape) from None
        if stacked.shape[1:] != shape:
            raise self._malformed(rows, name, shape)
        return stacked

    def _final(self, finals: dict[int, np.ndarray]) -> np.ndarray:
        nothing = np.zeros(self._observation_space.shape or (), self._observation_space.dtype)
        return self._stack([finals.get(env, nothing) for env in range(self.envs)])

    def _malformed(self, rows: list, name: str, shape: tuple[int, ...] | None) -> EnvError:
        at = next((i for i, row in enumerate(rows) if not fits(row, shape)), 0)
        return malformed(self.id, name, rows[at], shape, self.where(at))

    def _calling(self, doing: str) -> calling_user_code:
        return calling_user_code(lambda error: self._failure(error, doing))

    def _failure(self, error: BaseException, doing: str) -> EnvError:
        where = self.where(self._place[0])
        if isinstance(error, TimeUpError):
            return hung(self.id, self._watchdog.seconds, doing, self._steps, where)
        return raised(self.id, error, doing, where)


def fits(row: object, shape: tuple[int, ...] | None) -> bool:
    """Return True if an answer is numbers of this shape."""
    try:
        return np.asarray(row, dtype=np.float64).shape == shape
    except (ArithmeticError, TypeError, ValueError):
        return False


def malformed(
    env_id: str, name: str, row: object, shape: tuple[int, ...] | None, where: str
) -> EnvError:
    """Return the error of an env that returned something else than promised."""
    message = f"env '{env_id}' returned as {name} {shown(row)}, not numbers of shape {shape}"
    return EnvError(message, where=where, fix=f"run `nbyt check-env {env_id}` to see all it breaks")


def raised(env_id: str, error: BaseException | str, doing: str, where: str) -> EnvError:
    """Return the error of an env that raised, with the user's own exception in the message."""
    what = error if isinstance(error, str) else described(error)
    message = f"env '{env_id}' raised {what} {doing}"
    fix = f"run `nbyt check-env {env_id}` to replay it on its own"
    return EnvError(message, where=where, fix=fix)


def hung(env_id: str, seconds: float, doing: str, step: int, where: str) -> EnvError:
    """Return the error of an env that did not answer."""
    message = f"env '{env_id}' gave no answer for {seconds:g} s at step {step} ({doing})"
    return EnvError(message, where=where, fix="look for a loop or a lock in the env")


def died(env_id: str, exit_code: int | None, where: str, *, fix: str) -> EnvError:
    """Return the error of an env whose process ended; fix: where it was not a signal."""
    if exit_code is not None and exit_code < 0:
        fix = "signal 9 is often too little memory: use fewer envs; otherwise debug the simulator"
    how = "without a word" if exit_code is None else how_it_ended(exit_code)
    return EnvError(f"the process of env '{env_id}' ended {how}", where=where, fix=fix)
