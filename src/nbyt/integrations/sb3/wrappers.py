"""A model's vec wrappers around another env, frozen as they are now.

VecNormalize keeps its moments and learns no more, so that observations and rewards are those of the
policy at this moment.
"""

import copy
import warnings
from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np
from gymnasium import Env, Wrapper
from gymnasium.spaces import Dict, Discrete, MultiDiscrete, Space

from nbyt.errors import EnvUsageError
from nbyt.integrations.sb3.package import module
from nbyt.integrations.sb3.policy import Packing

Layer = Callable[[Any], Any]
Stepped = tuple[Any, np.ndarray, np.ndarray, list[dict[str, Any]]]


class OneEnv:
    """A VecEnv of one env, as far as vec wrappers use it; at its end an episode is reset.

    A DummyVecEnv copies observations and infos deeply in every step, which takes longer than the
    step of a small env. Here an info holds only how an episode ended.
    """

    num_envs = 1

    def __init__(self, env: Env) -> None:
        self._env = env
        self.observation_space, self.action_space = env.observation_space, env.action_space
        self._seed: int | None = None
        self._action: Any = None

    def seed(self, seed: int | None = None) -> None:
        self._seed = seed

    def reset(self) -> Any:
        seed, self._seed = self._seed, None
        return self._rows(self._env.reset(seed=seed)[0])

    def step(self, actions: np.ndarray) -> Stepped:
        """Return observations, rewards, whether an episode ended, and how it did."""
        self.step_async(actions)
        return self.step_wait()

    def step_async(self, actions: np.ndarray) -> None:
        self._action = actions[0]

    def step_wait(self) -> Stepped:
        """Step; observations are those of the next episode where one ended."""
        observation, reward, terminated, truncated, _ = self._env.step(self._action)
        ended, info = bool(terminated or truncated), {}
        if ended:
            # Copied, because wrappers write into it and the env may still need it.
            info["terminal_observation"] = copy.deepcopy(observation)
            info["TimeLimit.truncated"] = bool(truncated and not terminated)
            observation, _ = self._env.reset()
        return self._rows(observation), np.array([reward], np.float32), np.array([ended]), [info]

    def get_attr(self, name: str, indices: Any = None) -> list[Any]:
        return [self._env.get_wrapper_attr(name)]

    def close(self) -> None:
        self._env.close()

    def _rows(self, observation: Any) -> Any:
        space = self.observation_space
        if not isinstance(space, Dict):
            return np.array(observation, space.dtype)[None]
        parts = space.spaces.items()
        return {name: np.array(observation[name], part.dtype)[None] for name, part in parts}


_WATCHERS = ("VecMonitor", "VecCheckNan", "VecVideoRecorder")
_NORMALISATION = [
    "norm_obs",
    "norm_reward",
    "clip_obs",
    "clip_reward",
    "gamma",
    "epsilon",
    "norm_obs_keys",
]
_MOMENTS = ("obs_rms", "ret_rms")


def layers(vec_env: Any, *, env_given: bool) -> list[Layer]:
    """Return the wrappers around a VecEnv from the inside out, as functions of another VecEnv.

    Those that only watch are left out. Any other that is not known here is refused; where the user
    gave the env, it is taken to be part of that.
    """
    vectors = module("common.vec_env")
    inwards: list[Layer] = []
    while isinstance(vec_env, vectors.VecEnvWrapper):
        kind = type(vec_env)
        known = kind.__name__ if kind is getattr(vectors, kind.__name__, None) else None
        if known in _FREEZERS:
            inwards.append(_FREEZERS[known](vec_env))
        elif known not in _WATCHERS:
            _unknown(kind.__name__, env_given)
        vec_env = vec_env.venv
    return inwards[::-1]


def channels_first(vec_env: Any) -> Any:
    """Put the channels of images first, as Stable-Baselines3 does with an env that it is given."""
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
    settings = copy.deepcopy({name: getattr(wrapper, name) for name in _NORMALISATION})
    # Without normalised observations there are no moments of them.
    moments = copy.deepcopy({k: vars(wrapper)[k] for k in _MOMENTS if k in vars(wrapper)})

    def layer(vec_env: Any) -> Any:
        frozen = module("common.vec_env").VecNormalize(vec_env, training=False, **settings)
        vars(frozen).update(moments)
        return frozen

    return layer


def _again(name: str, **settings: Any) -> Layer:
    return partial(getattr(module("common.vec_env"), name), **settings)


def _channels_order(stacked: Any) -> str | dict[str, Any]:
    parts = getattr(stacked, "sub_stacked_observations", None)
    if parts is not None:
        return {name: _channels_order(part) for name, part in parts.items()}
    return "first" if stacked.channels_first else "last"


_FREEZERS: dict[str, Callable[[Any], Layer]] = {
    "VecNormalize": _normalisation,
    "VecFrameStack": lambda wrapper: _again(
        "VecFrameStack",
        n_stack=wrapper.stacked_obs.n_stack,
        channels_order=_channels_order(wrapper.stacked_obs),
    ),
    "VecTransposeImage": lambda wrapper: _again("VecTransposeImage", skip=wrapper.skip),
    "VecExtractDictObs": lambda wrapper: _again("VecExtractDictObs", key=wrapper.key),
}


class SingleEnv(Wrapper):
    """An env seen through vec wrappers; observations with several parts are packed into one array.

    It is a wrapper so that what is asked of the env inside (its time limit) is found. The vec env
    resets by itself when an episode ends; the next reset without a seed gives that observation.
    """

    def __init__(self, env: Env, layers: list[Layer]) -> None:
        super().__init__(env)
        self.vec_env: Any = OneEnv(env)
        for layer in layers:
            self.vec_env = layer(self.vec_env)
        self._packing = Packing(self.vec_env.observation_space)
        self.observation_space = self._packing.space
        self.action_space = _as_sent(self.vec_env.action_space)
        self._begun: np.ndarray | None = None

    def reset(
        self, *, seed: int | None = None, options: dict[str, Any] | None = None
    ) -> tuple[np.ndarray, dict[str, Any]]:
        """Return the first observation of the episode that has begun, or of a seeded one."""
        begun, self._begun = self._begun, None
        if begun is not None and seed is None:
            return begun, {}
        if seed is not None:
            self.vec_env.seed(seed)
        return self._packing.pack(self.vec_env.reset())[0], {}

    def step(self, action: Any) -> tuple[np.ndarray, float, bool, bool, dict[str, Any]]:
        """Make one step; where the episode ends, the observation is its last."""
        rows, rewards, ends, infos = self.vec_env.step(np.asarray(action)[None])
        observation, reward = self._packing.pack(rows)[0], float(rewards[0])
        if not ends[0]:
            return observation, reward, False, False, {}
        self._begun = observation
        truncated = bool(infos[0].get("TimeLimit.truncated", False))
        last = self._packing.pack(infos[0]["terminal_observation"])
        return last, reward, not truncated, truncated, {}

    def close(self) -> None:
        self.vec_env.close()


def _as_sent(space: Space) -> Space:
    """Return the space of the actions that Stable-Baselines3 sends: it counts them from 0."""
    if isinstance(space, Discrete):
        return Discrete(int(space.n))
    return MultiDiscrete(space.nvec) if isinstance(space, MultiDiscrete) else space
