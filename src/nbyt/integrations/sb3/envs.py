"""Envs as a Stable-Baselines3 model's policy sees them: copies of the model's own, for pools.

A deep copy is what a user's env can be copied by without their help. The original is only read: it
is not reset, not stepped, and its random numbers are not drawn.
"""

import copy
import dataclasses
import random
import warnings
from collections.abc import Callable
from functools import partial
from inspect import getattr_static
from itertools import combinations
from typing import Any

import gymnasium
import numpy as np
from gymnasium import Env, Space, Wrapper
from gymnasium.envs.registration import EnvSpec
from gymnasium.spaces import Discrete
from gymnasium.wrappers import PassiveEnvChecker

from nbyt.envs.gymnasium_suite import GymnasiumEnv
from nbyt.envs.protocol import HostEnv
from nbyt.envs.spaces import words
from nbyt.errors import EnvUsageError
from nbyt.integrations.sb3.package import module
from nbyt.integrations.sb3.wrappers import Layer, SingleEnv, channels_first, layers

Maker = Callable[[], Env]
Given = Maker | str | EnvSpec
_RANDOM_SOURCES = (np.random.Generator, np.random.RandomState, random.Random, Space)
_MAKES_FIX = "pass env=, a function that makes such an env or the id that Gymnasium knows it by"
_WINDOW = ("render_mode", "human")
# What gymnasium.make and make_vec_env put around an env. Others may hold what cannot be sent
# between processes, and the worker that is asked to send it dies.
_SENDABLE = {"Monitor", "TimeLimit", "OrderEnforcing", "PassiveEnvChecker"}


def host_env(model: Any, env: Given | None = None) -> HostEnv:
    """Return the env that a model trains in, as its policy sees it now.

    Without `env` the model's first env is copied, or made again by its spec. `env`, a function that
    makes one or an id, takes its place inside the model's vec wrappers. A model that was loaded
    without an env has none of those.
    """
    make, around = _made_of(model, env)
    name = env if isinstance(env, str) else env_name(model)
    copied = GymnasiumEnv(name, lambda: SingleEnv(make(), around))
    _require_fit(copied, model)
    return copied


def vec_env(model: Any, env: Given | None, envs: int) -> Any:
    """Return fresh copies of the env in a DummyVecEnv, inside the model's vec wrappers.

    Infos of ended episodes hold their returns, before any wrapper of the model scales rewards.
    """
    make, around = _made_of(model, env)
    vectors = module("common.vec_env")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # about envs that have a Monitor of their own, too
        made = vectors.VecMonitor(vectors.DummyVecEnv([make] * envs))
    for layer in around:
        made = layer(made)
    return made


def _made_of(model: Any, env: Given | None) -> tuple[Maker, list[Layer]]:
    """Return what makes a single env, and the vec wrappers around it."""
    running = model.get_env()
    if running is None and env is None:
        raise EnvUsageError("the model has no env", fix="pass env=, or call model.set_env(...)")
    space = model.observation_space
    if isinstance(space, Discrete) and space.start != 0:
        raise EnvUsageError(
            f"the model's observations are {space}, and Stable-Baselines3 takes them to start at 0",
            fix="wrap the env in gymnasium.wrappers.TransformObservation, and train again",
        )
    make = _copying_maker(running) if env is None else _maker(env)
    if running is None:
        return make, [channels_first]
    return make, layers(running, env_given=env is not None)


def env_name(model: Any) -> str:
    """Return the id of the env that a model trains in, or the name of its class if it has none."""
    vec_env, vectors = model.get_env(), module("common.vec_env")
    if vec_env is None:
        return "env"
    running = vec_env.unwrapped
    if isinstance(running, vectors.DummyVecEnv):
        inner = running.envs[0].unwrapped
        return inner.spec.id if inner.spec is not None else type(inner).__name__
    if isinstance(running, vectors.SubprocVecEnv):
        return _described(running)[-1].removesuffix(" instance")
    return type(running).__name__


def _maker(env: Given) -> Maker:
    if isinstance(env, str | EnvSpec):
        return _from_spec(env)
    if callable(env):
        return env
    raise EnvUsageError(
        f"env is {env!r:.80}, and neither a function that makes a Gymnasium env nor an id",
        fix="pass env=make, where make() returns a new env on every call",
    )


def _require_fit(copied: GymnasiumEnv, model: Any) -> None:
    """Raise an EnvUsageError if the envs are not new ones or do not fit the policy."""
    pair, vec_env = [copied.start_one(), copied.start_one()], model.get_env()
    training = [] if vec_env is None else getattr(vec_env.unwrapped, "envs", [])
    inside = [env.unwrapped for env in (*pair, *training)]
    if any(env is other for env, other in combinations(inside, 2)):
        raise EnvUsageError(
            f"the function given for '{copied.id}' returned an env that is in use already",
            fix="make it build a new env on every call",
        )
    for env in pair:
        env.close()
    assert isinstance(env, SingleEnv), "spaces that count from 0 need no wrapper"
    ours = env.vec_env.observation_space, env.vec_env.action_space
    theirs = model.observation_space, model.action_space
    if ours != theirs:
        raise EnvUsageError(
            f"the policy takes {words(theirs[0])} and gives {words(theirs[1])}, this env gives "
            f"{words(ours[0])} and takes {words(ours[1])}",
            where=copied.id,
            fix="pass env= what the model was trained in, inside its vec wrappers",
        )


def _copying_maker(vec_env: Any) -> Maker:
    """Return a function that makes envs like the first of a VecEnv."""
    vectors = module("common.vec_env")
    running = vec_env.unwrapped
    if isinstance(running, vectors.DummyVecEnv):
        return _from_env(running.envs[0])
    if isinstance(running, vectors.SubprocVecEnv):
        return _from_process(running)
    kind = type(running).__name__
    raise EnvUsageError(f"the single envs of a {kind} cannot be reached", fix=_MAKES_FIX)


def _from_spec(spec: EnvSpec | str) -> Maker:
    # Without the passive checker: it slows every step.
    return partial(gymnasium.make, spec, disable_env_checker=True)


class Copy(Wrapper):
    """A copied env whose random numbers come from the seed of its reset.

    Copies of a generator give the same numbers. An env that seeds its generators itself is not
    changed by this; one that does not would give the same numbers to all its copies.
    """

    def __init__(self, env: Env, sources: list[Any]) -> None:
        super().__init__(env)
        self._sources = sources

    def reset(self, **given: Any) -> tuple[Any, dict[str, Any]]:
        """Seed the copied generators, and return the first observation of an episode."""
        if given.get("seed") is not None:
            for place, source in enumerate(self._sources):
                _seed(source, [given["seed"], place])
        return self.env.reset(**given)


def _from_env(env: Env) -> Maker:
    try:
        prototype, _ = _copied(env)
    except Exception as error:
        spec = env.spec and _plain(env.spec)
        if spec is not None and all(own.kwargs is not None for own in spec.additional_wrappers):
            return _from_spec(spec)
        raise EnvUsageError(
            f"the model's env {env} cannot be copied: {type(error).__name__}: {error}",
            fix=_MAKES_FIX,
        ) from error
    return lambda: Copy(*_copied(prototype))


def _copied(env: Env) -> tuple[Env, list[Any]]:
    """Return a deep copy without wrappers that only watch, and its sources of random numbers."""
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
    return made, [part for part in memo.values() if isinstance(part, _RANDOM_SOURCES)]


def _watchers(env: Env) -> list[Wrapper]:
    """Return SB3's Monitor, which may hold an open file, and Gymnasium's checker, which is slow."""
    watchers, layer = [], env
    while isinstance(layer, Wrapper):
        if isinstance(layer, module("common.monitor").Monitor | PassiveEnvChecker):
            watchers.append(layer)
        layer = layer.env
    return watchers


def _seed(source: Any, seed: list[int]) -> None:
    number = int(np.random.SeedSequence(seed).generate_state(1)[0])
    if isinstance(source, np.random.Generator):
        source.bit_generator.state = type(source.bit_generator)(number).state
    else:
        source.seed(number)


def _from_process(running: Any) -> Maker:
    """Return a maker from the spec: an env in another process cannot be copied from here."""
    *layers, last = _described(running)
    others = set(layers[:-1]) - _SENDABLE
    if last.endswith(" instance") or others:
        why = f"is inside {', '.join(sorted(others))}" if others else "has no spec"
        raise EnvUsageError(
            f"the model's env {last.removesuffix(' instance')} runs in another process and {why}, "
            "so it cannot be made again",
            fix=_MAKES_FIX,
        )
    return _from_spec(_plain(running.get_attr("spec", 0)[0]))


def _described(running: Any) -> list[str]:
    """Return the classes from the outermost wrapper inwards, then the id, from the env's text."""
    return str(running.env_method("__str__", indices=0)[0]).strip("<>").split("<")


def _plain(spec: EnvSpec) -> EnvSpec:
    """Return the spec without SB3's Monitor, and without a window."""
    monitor = module("common.monitor").Monitor
    place = f"{monitor.__module__}:{monitor.__name__}"
    kept = tuple(own for own in spec.additional_wrappers if own.entry_point != place)
    options = {key: value for key, value in spec.kwargs.items() if (key, value) != _WINDOW}
    return dataclasses.replace(spec, additional_wrappers=kept, kwargs=options)
