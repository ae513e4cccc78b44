"""The env that a model trains in, once more, sharing nothing with the original.

A deep copy is what a user's env can be copied by without their help. Reading is all that is done to
the original: it is not reset, not stepped, and its random numbers are not drawn.
"""

import copy
import dataclasses
import random
from collections.abc import Callable
from functools import partial
from inspect import getattr_static
from typing import Any

import gymnasium
import numpy as np
from gymnasium import Env, Space, Wrapper
from gymnasium.envs.registration import EnvSpec
from gymnasium.wrappers import PassiveEnvChecker

from nbyt.errors import EnvUsageError
from nbyt.integrations.sb3.package import module

Maker = Callable[[], Env]
_LUCK = (np.random.Generator, np.random.RandomState, random.Random, Space)
_MAKES_FIX = "pass env=, a function that makes such an env or the id that Gymnasium knows it by"
_WINDOW = ("render_mode", "human")
# What gymnasium.make and make_vec_env put around an env. Others may hold what cannot be sent
# between processes, and the worker that is asked to send it dies.
_SENDABLE = {"Monitor", "TimeLimit", "OrderEnforcing", "PassiveEnvChecker"}


def maker(vec_env: Any) -> Maker:
    """A function that makes envs like the first of a VecEnv."""
    vectors = module("common.vec_env")
    running = vec_env.unwrapped
    if isinstance(running, vectors.DummyVecEnv):
        return _from_env(running.envs[0])
    if isinstance(running, vectors.SubprocVecEnv):
        return _from_process(running)
    kind = type(running).__name__
    raise EnvUsageError(f"the single envs of a {kind} cannot be reached", fix=_MAKES_FIX)


def from_spec(spec: EnvSpec | str) -> Maker:
    """A function that makes what Gymnasium knows by a spec or an id."""
    # Without the passive checker: it slows every step.
    return partial(gymnasium.make, spec, disable_env_checker=True)


def name(vec_env: Any) -> str:
    """The id of a VecEnv's envs, the name of their class where they have none."""
    vectors = module("common.vec_env")
    running = vec_env.unwrapped
    if isinstance(running, vectors.DummyVecEnv):
        inner = running.envs[0].unwrapped
        return inner.spec.id if inner.spec is not None else type(inner).__name__
    if isinstance(running, vectors.SubprocVecEnv):
        return _described(running)[-1].removesuffix(" instance")
    return type(running).__name__


class Copy(Wrapper):
    """A copied env whose luck comes from the seed of its reset.

    Copies of a generator give the same numbers. An env that seeds its generators itself is not
    changed by this; one that does not would give the same luck to all its copies.
    """

    def __init__(self, env: Env, luck: list[Any]) -> None:
        super().__init__(env)
        self._luck = luck

    def reset(self, **given: Any) -> tuple[Any, dict[str, Any]]:
        """The first observation of an episode."""
        if given.get("seed") is not None:
            for place, source in enumerate(self._luck):
                _seed(source, [given["seed"], place])
        return self.env.reset(**given)


def _from_env(env: Env) -> Maker:
    try:
        prototype, _ = _copied(env)
    except Exception as error:
        spec = env.spec and _plain(env.spec)
        if spec is not None and all(own.kwargs is not None for own in spec.additional_wrappers):
            return from_spec(spec)
        raise EnvUsageError(
            f"the model's env {env} cannot be copied: {type(error).__name__}: {error}",
            fix=_MAKES_FIX,
        ) from error
    return partial(_copy_of, prototype)


def _copy_of(prototype: Env) -> Env:
    return Copy(*_copied(prototype))


def _copied(env: Env) -> tuple[Env, list[Any]]:
    """A deep copy without what only watches, and everything in it that draws random numbers."""
    memo: dict[int, Any] = {}
    for watcher in reversed(_watchers(env)):
        # The copy finds the watcher's place taken by what is inside it, and so leaves it out.
        memo[id(watcher)] = copy.deepcopy(watcher.env, memo)
    made = copy.deepcopy(env, memo)
    inner = made.unwrapped
    if inner is env.unwrapped:
        raise TypeError("its deep copy is the env itself")
    for space in ("observation_space", "action_space"):
        # One that belongs to the class is the original's too, and so are the numbers it draws.
        if isinstance(getattr_static(inner, space, None), Space) and space not in vars(inner):
            setattr(inner, space, copy.deepcopy(getattr(inner, space), memo))
    if inner.render_mode == "human":
        inner.render_mode = None
    return made, [part for part in memo.values() if isinstance(part, _LUCK)]


def _watchers(env: Env) -> list[Wrapper]:
    """SB3's Monitor, which may hold an open file, and Gymnasium's checker, which takes time."""
    found, layer = [], env
    while isinstance(layer, Wrapper):
        if isinstance(layer, module("common.monitor").Monitor | PassiveEnvChecker):
            found.append(layer)
        layer = layer.env
    return found


def _seed(source: Any, seed: list[int]) -> None:
    number = int(np.random.SeedSequence(seed).generate_state(1)[0])
    if isinstance(source, np.random.Generator):
        source.bit_generator.state = type(source.bit_generator)(number).state
    else:
        source.seed(number)


def _from_process(running: Any) -> Maker:
    """Made by its spec: an env in another process cannot be copied from here."""
    *layers, last = _described(running)
    others = set(layers[:-1]) - _SENDABLE
    if last.endswith(" instance") or others:
        why = f"is inside {', '.join(sorted(others))}" if others else "has no spec"
        raise EnvUsageError(
            f"the model's env {last.removesuffix(' instance')} runs in another process and {why}, "
            "so it cannot be made again",
            fix=_MAKES_FIX,
        )
    return from_spec(_plain(running.get_attr("spec", 0)[0]))


def _described(running: Any) -> list[str]:
    """Classes from the outermost wrapper inwards, then the id, as an env's own text tells them."""
    return str(running.env_method("__str__", indices=0)[0]).strip("<>").split("<")


def _plain(spec: EnvSpec) -> EnvSpec:
    """The spec without SB3's Monitor, and without a window."""
    monitor = module("common.monitor").Monitor
    place = f"{monitor.__module__}:{monitor.__name__}"
    kept = tuple(own for own in spec.additional_wrappers if own.entry_point != place)
    options = {key: value for key, value in spec.kwargs.items() if (key, value) != _WINDOW}
    return dataclasses.replace(spec, additional_wrappers=kept, kwargs=options)
