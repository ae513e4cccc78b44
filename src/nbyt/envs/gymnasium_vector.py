"""N Gymnasium envs behind Gymnasium's own vector API; the only file that imports it.

Async: a process for each env, watched. An env that raises is named, one that dies gives its signal,
one that hangs is killed after `step_seconds`; after any of these no worker is left.
Sync next-step is here as an independent witness for the autoreset law; the fast sync path is the
loop in envs.local.
"""

import queue
import signal
import time
from collections.abc import Callable
from functools import partial
from multiprocessing import TimeoutError as AnswerTimeout
from multiprocessing import get_all_start_methods, get_context
from typing import Any

import numpy as np
from gymnasium import Env, Wrapper
from gymnasium.vector import AsyncVectorEnv, AutoresetMode, SyncVectorEnv, VectorEnv
from gymnasium.vector.async_vector_env import AsyncState

from nbyt.envs.local import PlacedEnvs, died, fits, hung, malformed, raised
from nbyt.envs.protocol import HostStep
from nbyt.envs.user_code import calling_user_code
from nbyt.errors import EnvError, NbytError, described

_MODES = {"same": AutoresetMode.SAME_STEP, "next": AutoresetMode.NEXT_STEP}
_CLOSE_SECONDS = 5.0
# Workers import the main script; one that starts envs at its top level ends there.
_GUARD = 'start envs under `if __name__ == "__main__":`, and see the traceback above'


class VectorEnvs(PlacedEnvs):
    """N running envs of a Gymnasium vector env, sync or async, with either autoreset."""

    def __init__(
        self,
        env_id: str,
        makers: list[Callable[[], Env]],
        *,
        processes: bool,
        autoreset: str = "same",
        step_seconds: float = 60.0,
    ) -> None:
        self.id = env_id
        self.envs = len(makers)
        self._same_step = autoreset == "same"
        self._seconds = step_seconds
        self._seeds, self._steps = [], 0
        self._ended = np.zeros(self.envs, bool)
        with calling_user_code(lambda error: self._failure(error, "while it was built")):
            self._vector = _start(makers, processes, _MODES[autoreset])

    def reset(self, seeds: list[int]) -> np.ndarray:
        """Return the first observations, N rows, env i started with seeds[i]."""
        self._seeds, self._steps = list(seeds), 0
        self._ended = np.zeros(self.envs, bool)
        observation, _ = self._ask("reset", seed=list(seeds))
        return observation

    def step(self, action: np.ndarray) -> HostStep:
        """Step every env; filler rows of next-step resets are not valid."""
        actions = np.array(action, dtype=self._vector.single_action_space.dtype)
        observation, reward, terminated, truncated, info = self._ask("step", actions)
        for name, rows in (("reward", reward), ("terminated", terminated)):
            if rows.shape != (self.envs,):
                raise malformed(self.id, name, rows[0], (), self.where(0))
        self._steps += 1
        valid = np.ones(self.envs, bool) if self._same_step else ~self._ended
        self._ended = terminated | truncated
        final = self._final(observation, info) if self._ended.any() else None
        return HostStep(observation, reward, terminated, truncated, valid, final)

    def restart(self, mask: np.ndarray, observation: np.ndarray) -> np.ndarray:
        """Begin new episodes where the mask is set, and return the observations of all envs."""
        fresh, _ = self._ask("reset", options={"reset_mask": mask})
        self._ended &= ~mask
        return np.where(mask.reshape(-1, *(1,) * (observation.ndim - 1)), fresh, observation)

    def close(self) -> None:
        """End every env and its process; closing twice is harmless."""
        with calling_user_code(lambda error: self._failure(error, "in close")):
            self._vector.close()

    def _final(self, observation: np.ndarray, info: dict[str, Any]) -> np.ndarray:
        if not self._same_step:
            return observation
        final = np.zeros_like(observation)
        for env in np.flatnonzero(self._ended):
            row = info["final_obs"][env]
            if not fits(row, final.shape[1:]):
                raise malformed(self.id, "observation", row, final.shape[1:], self.where(int(env)))
            final[env] = row
        return final

    def _ask(self, what: str, *arguments: Any, **named: Any) -> Any:
        vector = self._vector
        try:
            if not isinstance(vector, _Workers):
                return getattr(vector, what)(*arguments, **named)
            getattr(vector, f"{what}_async")(*arguments, **named)
            return getattr(vector, f"{what}_wait")(timeout=self._seconds)
        except AnswerTimeout as error:
            raise self._hung(self._vector, f"in {what}") from error
        except Exception as error:
            failure = self._failure(error, f"in {what}")
            raise failure from (error.original if isinstance(error, _WorkerError) else error)

    def _hung(self, vector: Any, doing: str) -> EnvError:
        env = vector.silent()
        vector.close(terminate=True)
        return hung(self.id, self._seconds, doing, self._steps, self.where(int(env)))

    def _failure(self, error: BaseException, doing: str) -> NbytError:
        vector = getattr(self, "_vector", None)
        if isinstance(error, _WorkerError):
            own = error.original
            what = str(own) if isinstance(own, _ForeignError) else own
            failure: NbytError = raised(self.id, what, doing, self.where(error.env))
        elif isinstance(error, _WorkerDeathError):
            failure = died(self.id, error.exit_code, self.where(error.env), fix=_GUARD)
        else:
            failure = raised(self.id, error, doing, f"step {self._steps}")
        if isinstance(vector, _Workers):
            vector.close(terminate=True)
        return failure


class _ForeignError(Exception):
    """What an env raised in its process, in words, because it cannot be sent itself."""


class _InItsProcess(Wrapper):
    """An env in a process of its own: all that it raises can be sent to the parent."""

    def __init__(self, env: Env) -> None:
        super().__init__(env)
        self._calling = calling_user_code(_sendable)

    def reset(self, **options: Any) -> Any:
        with self._calling:
            return self.env.reset(**options)

    def step(self, action: Any) -> Any:
        with self._calling:
            return self.env.step(action)


def _sendable(error: BaseException) -> Exception:
    """Return the exception, or its text where it may not survive pickling."""
    simple = all(isinstance(part, str | int | float) for part in error.args)
    if simple and isinstance(error, Exception) and type(error).__module__ == "builtins":
        return error
    return _ForeignError(described(error))


def _build(make: Callable[[], Env]) -> Env:
    """Make an env in its own process, which Ctrl-C does not reach: the parent answers it."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    return _InItsProcess(make())


class _WorkerError(Exception):
    """An exception that a worker's env raised, with the env's number."""

    def __init__(self, env: int, original: BaseException) -> None:
        super().__init__(str(original))
        self.env = env
        self.original = original


class _WorkerDeathError(Exception):
    """A worker that went away without a word."""

    def __init__(self, env: int, exit_code: int | None) -> None:
        super().__init__(f"worker {env} ended with {exit_code}")
        self.env = env
        self.exit_code = exit_code


class _Workers(AsyncVectorEnv):
    """AsyncVectorEnv whose failures name the env and whose close always ends."""

    def silent(self) -> int:
        waiting = (i for i, pipe in enumerate(self.parent_pipes) if not pipe.poll(0))
        return next(waiting, 0)

    def step_async(self, actions: np.ndarray) -> None:
        with _watching(self):
            super().step_async(actions)

    def step_wait(self, timeout: int | float | None = None) -> Any:
        with _watching(self):
            return super().step_wait(timeout)

    def reset_async(self, seed: Any = None, options: dict | None = None) -> None:
        with _watching(self):
            super().reset_async(seed, options)

    def reset_wait(self, timeout: int | float | None = None) -> Any:
        with _watching(self):
            return super().reset_wait(timeout)

    # Gymnasium's own two classes disagree about the arguments of this one.
    def close_extras(  # type: ignore[override]
        self, timeout: int | float | None = None, terminate: bool = False
    ) -> None:
        """End the workers: ask first, kill those that do not answer in time."""
        if not terminate:
            self._ask_to_close(_CLOSE_SECONDS if timeout is None else timeout)
        for process in self.processes:
            if process.is_alive():
                process.kill()
            process.join()
        for pipe in self.parent_pipes:
            if pipe is not None:
                pipe.close()
        self._state = AsyncState.DEFAULT

    def _ask_to_close(self, seconds: float) -> None:
        pipes = [pipe for pipe in self.parent_pipes if pipe is not None and not pipe.closed]
        deadline = time.monotonic() + seconds
        try:
            for pipe in pipes:
                pipe.send(("close", None))
            for pipe in pipes:
                pipe.poll(max(0.0, deadline - time.monotonic()))
        except OSError:
            return
        for process in self.processes:
            process.join(max(0.0, deadline - time.monotonic()))

    def _check_spaces(self) -> None:
        with _watching(self):
            super()._check_spaces()

    def _raise_if_errors(self, successes: Any) -> None:
        if all(successes):
            return
        try:
            env, kind, value, trace = self.error_queue.get(timeout=_CLOSE_SECONDS)
        except queue.Empty:
            raise _WorkerDeathError(list(successes).index(False), None) from None
        raise _WorkerError(env, _rebuilt(kind, value, trace))


class _watching:  # noqa: N801 (a context manager used as a word)
    """A context that turns a broken pipe into the name and exit code of the worker that ended."""

    def __init__(self, workers: _Workers) -> None:
        self._workers = workers

    def __enter__(self) -> None:
        return None

    def __exit__(self, kind: Any, error: Any, trace: Any) -> None:
        if not isinstance(error, EOFError | BrokenPipeError | ConnectionResetError):
            return
        for env, process in enumerate(self._workers.processes):
            process.join(0.2)  # the pipe closes a moment before the process is gone
            if not process.is_alive():
                raise _WorkerDeathError(env, process.exitcode) from error


def _start(makers: list[Callable[[], Env]], processes: bool, mode: AutoresetMode) -> VectorEnv:
    if not processes:
        return SyncVectorEnv(makers, autoreset_mode=mode)
    # Not fork: JAX has threads by now, and a forked child can wait for ever on a lock of theirs.
    method = "forkserver" if "forkserver" in get_all_start_methods() else "spawn"
    if method == "forkserver":
        get_context(method).set_forkserver_preload(["nbyt.envs.gymnasium_suite"])
    watched = [partial(_build, make) for make in makers]
    return _Workers(watched, autoreset_mode=mode, context=method)


def _rebuilt(kind: Any, value: Any, trace: str) -> BaseException:
    """Rebuild the worker's exception, with its traceback as a note."""
    original = value if isinstance(value, BaseException) else RuntimeError(f"{kind}: {value}")
    original.add_note(trace)
    return original
