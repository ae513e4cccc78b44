"""Envs as a Stable-Baselines3 model's policy sees them, for pools."""

from collections.abc import Callable
from functools import partial
from itertools import combinations
from typing import Any

from gymnasium import Env
from gymnasium.envs.registration import EnvSpec
from gymnasium.spaces import Discrete, Space

from nbyt.envs.gymnasium_suite import GymnasiumEnv, from_factory
from nbyt.envs.protocol import HostEnv
from nbyt.envs.spaces import words
from nbyt.errors import EnvUsageError
from nbyt.integrations.sb3 import copies
from nbyt.integrations.sb3.package import module
from nbyt.integrations.sb3.wrappers import Layer, Single, channels_first, layers

Given = Callable[[], Env] | str | EnvSpec


def host_env(model: Any, env: Given | None = None) -> HostEnv:
    """The env that a model trains in, as its policy sees it now, to be started any number of times.

    Without `env` the model's first env is copied, or made again by its spec. `env`, a function that
    makes one or an id, takes its place inside the model's vec wrappers. A model that was loaded
    without an env has none of those.
    """
    make, around = _made_of(model, env)
    name = env if isinstance(env, str) else env_name(model)
    found = from_factory(name, partial(_single, make, around))
    _require_fit(found, model)
    return found


def vec_env(model: Any, env: Given | None, envs: int) -> Any:
    """So many fresh copies of the env in a DummyVecEnv, inside the model's vec wrappers."""
    make, around = _made_of(model, env)
    made = module("common.vec_env").DummyVecEnv([make] * envs)
    for layer in around:
        made = layer(made)
    return made


def _made_of(model: Any, env: Given | None) -> tuple[copies.Maker, list[Layer]]:
    """What makes a single env, and the vec wrappers around it."""
    running = model.get_env()
    if running is None and env is None:
        raise EnvUsageError("the model has no env", fix="pass env=, or call model.set_env(...)")
    _require_zero_based(model.observation_space)
    make = copies.maker(running) if env is None else _maker(env)
    if running is None:
        return make, [channels_first]
    return make, layers(running, env_given=env is not None)


def env_name(model: Any) -> str:
    """The id of the env that a model trains in, the name of its class where it has none."""
    vec_env = model.get_env()
    return "env" if vec_env is None else copies.name(vec_env)


def _maker(env: Given) -> copies.Maker:
    if isinstance(env, str | EnvSpec):
        return copies.from_spec(env)
    if callable(env):
        return env
    raise EnvUsageError(
        f"env is {env!r:.80}, and neither a function that makes a Gymnasium env nor an id",
        fix="pass env=make, where make() returns a new env on every call",
    )


def _require_zero_based(space: Space) -> None:
    if isinstance(space, Discrete) and space.start != 0:
        raise EnvUsageError(
            f"the model's observations are {space}, and Stable-Baselines3 takes them to start at 0",
            fix="wrap the env in gymnasium.wrappers.TransformObservation, and train again",
        )


def _single(make: copies.Maker, around: list[Layer]) -> Env:
    return Single(make(), around)


def _require_fit(found: GymnasiumEnv, model: Any) -> None:
    """Nothing, or an EnvUsageError if the envs are not new ones or not what the policy takes."""
    pair = [found.start_one(), found.start_one()]
    inside = [one.unwrapped for one in (*pair, *_training(model))]
    if any(one is other for one, other in combinations(inside, 2)):
        raise EnvUsageError(
            f"the function given for '{found.id}' returned an env that is in use already",
            fix="make it build a new env on every call",
        )
    for one in pair:
        one.close()
    _require_spaces(pair[0], model, found.id)


def _training(model: Any) -> list[Env]:
    vec_env = model.get_env()
    return [] if vec_env is None else getattr(vec_env.unwrapped, "envs", [])


def _require_spaces(one: Env, model: Any, where: str) -> None:
    assert isinstance(one, Single), "spaces that count from 0 need no wrapper"
    ours = one.vec_env.observation_space, one.vec_env.action_space
    theirs = model.observation_space, model.action_space
    if ours != theirs:
        raise EnvUsageError(
            f"the policy takes {words(theirs[0])} and gives {words(theirs[1])}, this env gives "
            f"{words(ours[0])} and takes {words(ours[1])}",
            where=where,
            fix="pass env= what the model was trained in, inside its vec wrappers",
        )
