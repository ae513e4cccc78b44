"""One run of a single env, written down: what it answered and what it raised.

The recording goes on past a fault wherever the env lets it; envs.checks.host judges.
"""

import copy
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from gymnasium.spaces import Space

from nbyt.envs.faults import Fault
from nbyt.envs.watchdog import TimeUpError
from nbyt.errors import NbytError, described


@dataclass(frozen=True)
class Kept:
    """A copy of an answer, and the answer itself to see whether the env changes it later."""

    copied: Any
    original: Any


@dataclass
class Trace:
    """What an env said in one run, each answer with its place.

    actions: the place, the action as it was given, and the same object after the step.
    """

    observation_space: Any = None
    action_space: Any = None
    resets: list[tuple[str, Kept]] = field(default_factory=list)
    steps: list[tuple[str, Kept]] = field(default_factory=list)
    actions: list[tuple[str, Any, Any]] = field(default_factory=list)
    raised: list[Fault] = field(default_factory=list)
    ends: int = 0


def record(make: Callable[[], Any], seed: int, steps: int) -> Trace:
    """One run of up to `steps` steps with sampled actions, and all that went wrong on the way."""
    trace = Trace()
    env = _attempt(trace, "constructor", "the constructor", make)
    if env is None:
        return trace
    trace.observation_space = getattr(env, "observation_space", None)
    trace.action_space = getattr(env, "action_space", None)
    if _reset(trace, env, seed) and isinstance(trace.action_space, Space):
        sampler = copy.deepcopy(trace.action_space)
        sampler.seed(seed)
        for number in range(steps):
            if not _step(trace, env, sampler.sample(), number):
                break
    _attempt(trace, "close_raises", "close()", env.close)
    return trace


def is_step(answer: Any) -> bool:
    """Whether an answer of `step` has the five values."""
    return isinstance(answer, tuple) and len(answer) == 5


def _attempt(trace: Trace, code: str, what: str, call: Callable[[], Any]) -> Any:
    try:
        return call()
    except (KeyboardInterrupt, TimeUpError):
        raise
    except BaseException as error:
        message = f"{what} raised {_own(error)}"
        trace.raised.append(Fault(code, message, "mend the env; the message is its own"))
        return None


def _reset(trace: Trace, env: Any, seed: int | None) -> bool:
    where = f"reset {len(trace.resets)}"
    try:
        answer = env.reset() if seed is None else env.reset(seed=seed)
    except TypeError as error:
        if seed is None or "seed" not in described(error):
            return _reset_raised(trace, where, error)
        trace.raised.append(
            Fault(
                "reset_seed",
                f"reset(seed={seed}) is not accepted: {described(error)}",
                "def reset(self, *, seed=None, options=None): super().reset(seed=seed)",
            )
        )
        return _reset(trace, env, None)
    except (KeyboardInterrupt, TimeUpError):
        raise
    except BaseException as error:
        return _reset_raised(trace, where, error)
    trace.resets.append((where, _kept(answer)))
    return True


def _reset_raised(trace: Trace, where: str, error: BaseException) -> bool:
    message = f"{where} raised {_own(error)}"
    trace.raised.append(Fault("reset_raises", message, "mend reset; it is called after every end"))
    return False


def _step(trace: Trace, env: Any, action: Any, number: int) -> bool:
    where = f"step {number}"
    given = copy.deepcopy(action)
    try:
        answer = env.step(action)
    except (KeyboardInterrupt, TimeUpError):
        raise
    except BaseException as error:
        code = "step_raises" if trace.steps else "action_rejected"
        message = f"{where} raised {_own(error)}, with the sampled action {given}"
        fix = "accept every action of action_space" if number == 0 else "mend the env"
        trace.raised.append(Fault(code, message, fix))
        return False
    trace.actions.append((where, given, action))
    trace.steps.append((where, _kept(answer)))
    if not is_step(answer):
        return False
    if _true(answer[2]) or _true(answer[3]):
        trace.ends += 1
        return _reset(trace, env, None)
    return True


def _own(error: BaseException) -> str:
    """What the env raised; nbyt's own error would advise to run the check that is running."""
    own = error.__cause__ if isinstance(error, NbytError) and error.__cause__ else error
    if isinstance(own, NbytError):
        return f"{type(own).__name__}: {own.message}"
    return described(own)


def _kept(answer: Any) -> Kept:
    try:
        return Kept(copy.deepcopy(answer), answer)
    except Exception:  # an info with a lock or a window in it; observations are still there
        head = answer[:4] if isinstance(answer, tuple) else answer
        return Kept((*copy.deepcopy(head), {}) if is_step(answer) else answer, answer)


def _true(flag: Any) -> bool:
    return bool(np.all(flag)) if isinstance(flag, bool | int | np.generic | np.ndarray) else False
