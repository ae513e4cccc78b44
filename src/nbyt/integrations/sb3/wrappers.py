"""A model's vec wrappers around another env, frozen as they are now.

VecNormalize keeps its moments and learns no more, so that observations and rewards are those of the
policy at this moment.
"""

import copy
import warnings
from collections.abc import Callable
from functools import partial
from typing import Any

from gymnasium.spaces import Dict

from nbyt.errors import EnvUsageError
from nbyt.integrations.sb3.package import module

Layer = Callable[[Any], Any]
_WATCHERS = ("VecMonitor", "VecCheckNan", "VecVideoRecorder")
_NORMALISATION = (
    "norm_obs",
    "norm_reward",
    "clip_obs",
    "clip_reward",
    "gamma",
    "epsilon",
    "norm_obs_keys",
)
_MOMENTS = ("obs_rms", "ret_rms")


def layers(vec_env: Any, *, env_given: bool) -> list[Layer]:
    """The wrappers around a VecEnv from the inside out, each as a function of another VecEnv.

    Those that only watch are left out. Any other that is not known here is refused; where the user
    gave the env, it is taken to be part of that.
    """
    vectors = module("common.vec_env")
    found: list[Layer] = []
    while isinstance(vec_env, vectors.VecEnvWrapper):
        kind = type(vec_env)
        known = kind.__name__ if kind is getattr(vectors, kind.__name__, None) else None
        if known in _FREEZERS:
            found.append(_FREEZERS[known](vec_env))
        elif known not in _WATCHERS:
            _unknown(kind.__name__, env_given)
        vec_env = vec_env.venv
    return found[::-1]


def channels_first(vec_env: Any) -> Any:
    """What Stable-Baselines3 makes of an env that it is given: images get their channels first."""
    images, space = module("common.preprocessing"), vec_env.observation_space
    parts = space.spaces.values() if isinstance(space, Dict) else [space]
    seen = [part for part in parts if images.is_image_space(part)]
    if all(images.is_image_space_channels_first(part) for part in seen):
        return vec_env
    return module("common.vec_env").VecTransposeImage(vec_env)


def _unknown(kind: str, env_given: bool) -> None:
    if env_given:
        warnings.warn(
            f"{kind} cannot be copied: the env given as env= is taken to do what it does",
            stacklevel=4,
        )
        return
    raise EnvUsageError(
        f"the model's env is inside {kind}, a vec wrapper that cannot be copied",
        fix="pass env=, a function that makes the env with a Gymnasium wrapper of your own that "
        f"does what {kind} does",
    )


def _normalisation(wrapper: Any) -> Layer:
    settings = {name: getattr(wrapper, name) for name in _NORMALISATION}
    # Without normalised observations there are no moments of them.
    moments = {name: vars(wrapper)[name] for name in _MOMENTS if name in vars(wrapper)}
    return partial(_normalised, copy.deepcopy(settings), copy.deepcopy(moments))


def _normalised(settings: dict[str, Any], moments: dict[str, Any], vec_env: Any) -> Any:
    made = module("common.vec_env").VecNormalize(vec_env, training=False, **settings)
    vars(made).update(moments)
    return made


def _frame_stack(wrapper: Any) -> Layer:
    stacked = wrapper.stacked_obs
    return partial(
        module("common.vec_env").VecFrameStack,
        n_stack=stacked.n_stack,
        channels_order=_channels_order(stacked),
    )


def _channels_order(stacked: Any) -> str | dict[str, Any]:
    parts = getattr(stacked, "sub_stacked_observations", None)
    if parts is not None:
        return {name: _channels_order(part) for name, part in parts.items()}
    return "first" if stacked.channels_first else "last"


def _transposition(wrapper: Any) -> Layer:
    return partial(module("common.vec_env").VecTransposeImage, skip=wrapper.skip)


def _extraction(wrapper: Any) -> Layer:
    return partial(module("common.vec_env").VecExtractDictObs, key=wrapper.key)


_FREEZERS: dict[str, Callable[[Any], Layer]] = {
    "VecNormalize": _normalisation,
    "VecFrameStack": _frame_stack,
    "VecTransposeImage": _transposition,
    "VecExtractDictObs": _extraction,
}
