"""Saving the state of one Gymnasium env and putting it back, so that the future is bit-identical.

Only for envs whose state we know in full: Gymnasium's own classic control, toy text and MuJoCo,
inside wrappers of Gymnasium that hold nothing but plain values. Any other env may keep state where
nobody sees it, and is said to be not copyable rather than copied by luck. The only file that
imports mujoco.
"""

import copy
from dataclasses import dataclass
from typing import Any

import numpy as np
from gymnasium import Env, Wrapper

from nbyt.errors import EnvUsageError, MissingExtraError

_ENVS = ("gymnasium.envs.classic_control.", "gymnasium.envs.toy_text.", "gymnasium.envs.mujoco.")
# Wrappers whose whole state is plain attributes. Not here: those with queues or running moments.
_WRAPPERS = {
    "ClipAction",
    "ClipReward",
    "DtypeObservation",
    "FilterObservation",
    "FlattenObservation",
    "OrderEnforcing",
    "PassiveEnvChecker",
    "RescaleAction",
    "RescaleObservation",
    "ReshapeObservation",
    "TimeAwareObservation",
    "TimeLimit",
    "TransformAction",
    "TransformObservation",
    "TransformReward",
}
# Left over from MuJoCo's last step and not part of its integration state, but read by Gymnasium
# before the next one (Ant measures its speed from xpos) or in observations.
_LEFT_OVER = (
    "xpos",
    "xquat",
    "xmat",
    "xipos",
    "ximat",
    "geom_xpos",
    "site_xpos",
    "subtree_com",
    "cinert",
    "cvel",
    "cacc",
    "cfrc_int",
    "cfrc_ext",
    "qacc",
    "qfrc_actuator",
    "qfrc_constraint",
    "ten_length",
    "ten_velocity",
    "actuator_force",
    "sensordata",
)
_PLAIN = (bool, int, float, str, bytes, np.ndarray, np.generic, type(None))


@dataclass(frozen=True)
class HostState:
    """One env's state: plain attributes from the outermost wrapper inwards, randomness, physics."""

    layers: tuple[dict[str, Any], ...]
    random: dict[str, Any]
    physics: dict[str, np.ndarray]


def copyable(env: Env) -> bool:
    """Return True if `save_state` and `load_state` give a bit-identical future for this env."""
    *wrappers, inner = _layers(env)
    known = all(
        type(wrapper).__module__.startswith("gymnasium.wrappers.")
        and type(wrapper).__name__ in _WRAPPERS
        for wrapper in wrappers
    )
    return known and type(inner).__module__.startswith(_ENVS)


def save_state(env: Env) -> HostState:
    """Save the state of an env, independent of what the env does next."""
    if not copyable(env):
        raise EnvUsageError(
            f"the state of {env} cannot be copied",
            fix="use Gymnasium's classic control, toy text or MuJoCo envs with simple wrappers",
        )
    inner = env.unwrapped
    return HostState(
        layers=tuple(_plain_attributes(layer) for layer in _layers(env)),
        random=copy.deepcopy(dict(inner.np_random.bit_generator.state)),
        physics=_save_physics(inner) if _is_mujoco(inner) else {},
    )


def load_state(env: Env, state: HostState) -> None:
    """Put a saved state into an env of the same make; the state can be loaded again."""
    layers = _layers(env)
    if len(layers) != len(state.layers) or bool(state.physics) != _is_mujoco(env.unwrapped):
        raise EnvUsageError(f"this state was not saved from an env like {env}")
    for layer, attributes in zip(layers, state.layers, strict=True):
        vars(layer).update(copy.deepcopy(attributes))
    env.unwrapped.np_random.bit_generator.state = copy.deepcopy(state.random)
    if state.physics:
        _load_physics(env.unwrapped, state.physics)


def _layers(env: Env) -> list[Env]:
    layers = [env]
    while isinstance(layers[-1], Wrapper):
        layers.append(layers[-1].env)
    return layers


def _plain_attributes(layer: Env) -> dict[str, Any]:
    return {name: copy.deepcopy(value) for name, value in vars(layer).items() if _is_plain(value)}


def _is_plain(value: Any) -> bool:
    if isinstance(value, list | tuple):
        return all(_is_plain(item) for item in value)
    return isinstance(value, _PLAIN)


def _is_mujoco(inner: Env) -> bool:
    return type(inner).__module__.startswith("gymnasium.envs.mujoco.")


def _save_physics(inner: Any) -> dict[str, np.ndarray]:
    mujoco = _mujoco()
    signature = mujoco.mjtState.mjSTATE_INTEGRATION
    integration = np.empty(mujoco.mj_stateSize(inner.model, signature), np.float64)
    mujoco.mj_getState(inner.model, inner.data, integration, signature)
    left_over = {name: np.array(getattr(inner.data, name)) for name in _LEFT_OVER}
    return {"integration": integration, **left_over}


def _load_physics(inner: Any, physics: dict[str, np.ndarray]) -> None:
    mujoco = _mujoco()
    signature = mujoco.mjtState.mjSTATE_INTEGRATION
    mujoco.mj_setState(inner.model, inner.data, physics["integration"], signature)
    for name in _LEFT_OVER:
        getattr(inner.data, name)[...] = physics[name]


def _mujoco() -> Any:
    try:
        import mujoco
    except ImportError as error:
        raise MissingExtraError("mujoco", "mujoco") from error
    return mujoco
