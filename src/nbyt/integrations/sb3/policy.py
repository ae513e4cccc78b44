"""A Stable-Baselines3 model's policy as functions of rows, and whether it can be measured."""

from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from functools import partial
from math import prod
from typing import Any

import numpy as np
from gymnasium.spaces import Box, Dict, Discrete, MultiBinary, MultiDiscrete, Space

from nbyt.errors import UsageError
from nbyt.gradients.engines.torch import TorchEngine
from nbyt.gradients.engines.torch_policy import (
    TorchPolicy,
    require_scores,
    undisturbed,
    without_gradients,
)
from nbyt.integrations.sb3.package import module

Rows = Callable[[Any], Any]
# The methods of a policy between observation and output.
_BETWEEN = [
    "extract_features",
    "get_distribution",
    "predict_values",
    "_get_action_dist_from_latent",
]


class Packing:
    """The layout of observations in an array: a Dict's parts side by side, others unchanged.

    Only slices and reshapes are used on the way back, so NumPy's and torch's arrays go alike, and
    under torch.func.vmap. A number of a Discrete part comes back as a float without an axis of its
    own: code that encodes it must cast it.
    """

    def __init__(self, space: Space) -> None:
        self._space = space
        self._parts: dict[str, tuple[slice, tuple[int, ...]]] = {}
        end = 0
        for name, part in space.spaces.items() if isinstance(space, Dict) else ():
            shape = tuple(part.shape or ())
            self._parts[name] = slice(end, end + prod(shape)), shape
            end += prod(shape)
        self._width = end

    @property
    def space(self) -> Space:
        """Return the space of packed observations, a Box or a Discrete one."""
        if isinstance(self._space, Dict):
            return Box(-np.inf, np.inf, (self._width,), np.float32)
        if isinstance(self._space, MultiBinary):
            return Box(0, 1, self._space.shape, np.int8)
        if isinstance(self._space, MultiDiscrete):
            first, last = self._space.start, self._space.start + self._space.nvec - 1
            return Box(first, last, dtype=np.int64)
        return self._space

    def pack(self, observation: Any) -> np.ndarray:
        """Pack one observation or many into an array: float32 [..., D] if the space is a Dict."""
        if not isinstance(observation, Mapping):
            return np.array(observation)
        rows = []
        for name, (_, shape) in self._parts.items():
            part = np.asarray(observation[name], np.float32)
            rows.append(part.reshape((*part.shape[: part.ndim - len(shape)], prod(shape))))
        return np.concatenate(rows, axis=-1)

    def unpack(self, rows: Any) -> Any:
        if not isinstance(self._space, Dict):
            return rows
        return {
            name: rows[..., place].reshape((*rows.shape[:-1], *shape))
            for name, (place, shape) in self._parts.items()
        }


def torch_policy(model: Any) -> TorchPolicy:
    """Return the model's live policy: its parameters are read where they are."""
    discrete = isinstance(model.action_space, Discrete)
    encode, law, value = _functions(model.policy)

    def tensors(observation: np.ndarray, action: np.ndarray) -> tuple[Any, Any]:
        act = policy.tensor(action)
        act = act.reshape(len(act)).long() if discrete else act.reshape(len(act), -1).float()
        return encode(policy_input(model, policy, observation)), act

    policy = TorchPolicy(
        model.policy,
        lambda observation, action: law(observation).log_prob(action),
        lambda observation: value(observation)[:, 0],
        (lambda observation: law(observation).entropy()) if model.ent_coef else None,
        tensors,
    )
    return policy


def policy_input(model: Any, policy: TorchPolicy, observation: np.ndarray) -> Any:
    """Return packed observations as the model's policy takes them."""
    return Packing(model.observation_space).unpack(policy.tensor(observation))


def _functions(policy: Any) -> tuple[Rows, Rows, Rows]:
    """Return the encoding of observations, and from that the distribution and the values [R, 1].

    The encoding stands apart because torch cannot batch one-hot encoding. A policy of which the
    user has overridden a method in between is used through its public methods.
    """
    usual = module("common.policies").ActorCriticPolicy
    if any(getattr(type(policy), name) is not getattr(usual, name) for name in _BETWEEN):
        return lambda observation: observation, policy.get_distribution, policy.predict_values
    encode = partial(
        module("common.preprocessing").preprocess_obs,
        observation_space=policy.observation_space,
        normalize_images=policy.normalize_images,
    )

    def law(encoded: Any) -> Any:
        latent = policy.mlp_extractor.forward_actor(policy.pi_features_extractor(encoded))
        return policy._get_action_dist_from_latent(latent)

    def value(encoded: Any) -> Any:
        latent = policy.mlp_extractor.forward_critic(policy.vf_features_extractor(encoded))
        return policy.value_net(latent)

    return encode, law, value


def engine_of(model: Any) -> TorchEngine:
    generator = np.random.default_rng(0)
    packed = Packing(model.observation_space).pack(_example(model.observation_space, generator))
    action = _example(model.action_space, generator)
    return TorchEngine(torch_policy(model), (packed[None], np.asarray(action)[None]))


def _example(space: Space, generator: np.random.Generator) -> Any:
    """Return an array of a space's shape, as the buffer has it, without drawing from the space."""
    if isinstance(space, Dict):
        return {name: _example(part, generator) for name, part in space.spaces.items()}
    if not isinstance(space, Box):
        return np.zeros(space.shape or (), int if isinstance(space, Discrete) else np.float32)
    if np.dtype(space.dtype).kind in "iu":
        return generator.integers(0, 256, space.shape).astype(space.dtype)
    return generator.normal(size=space.shape).astype(np.float32)


@contextmanager
def preserve_policy(policy: Any) -> Iterator[None]:
    """Freeze the policy inside, and restore its mode and last distribution after.

    So is all that draws random numbers.
    """
    kept, training = dict(vars(policy.action_dist)), policy.training
    policy.set_training_mode(False)
    try:
        with undisturbed(0), without_gradients():
            yield
    finally:
        policy.set_training_mode(training)
        vars(policy.action_dist).clear()
        vars(policy.action_dist).update(kept)


_LIVE = "give the model itself, as PPO(...) or PPO.load(...) returned it"


def require_measurable(model: Any) -> None:
    """Raise a UsageError if this model's gradient cannot be measured."""
    if isinstance(model, str | bytes) or hasattr(model, "__fspath__"):
        raise UsageError(
            "a saved model is a pickle, which runs code when it is read: nbyt does not load it",
            where="model",
            fix=_LIVE,
        )
    if not isinstance(model, module("common.on_policy_algorithm").OnPolicyAlgorithm):
        raise UsageError(
            f"{type(model).__name__} is no on-policy algorithm of Stable-Baselines3",
            where="model",
            fix=f"measure PPO or A2C; {_LIVE}",
        )
    policy, known = model.policy, module("common.policies").ActorCriticPolicy
    if not isinstance(policy, known) or getattr(policy, "lstm_actor", None) is not None:
        raise UsageError(
            f"the score of a single step cannot be had of {type(policy).__name__}",
            where="policy",
            fix="measure MlpPolicy, CnnPolicy or MultiInputPolicy; recurrent and masked policies "
            "depend on more than the observation",
        )
    if model.use_sde:
        raise UsageError(
            "with use_sde=True the actions of many steps share one noise, which is no part of "
            "their log-probability",
            where="use_sde",
            fix="train with use_sde=False",
        )
    require_scores(policy, trained_here=True)


def require_as_trained(model: Any, engine: TorchEngine) -> None:
    """Raise a UsageError if the policy is trained with other numbers than those measured.

    SB3 trains with `evaluate_actions`, which a policy of the user's own may have made anew.
    """
    policy = engine.policy
    with preserve_policy(model.policy):
        encoded, action = policy.rows(*engine.row)
        given = model.policy.evaluate_actions(policy_input(model, policy, engine.row[0]), action)
        measured = [policy.value(encoded), policy.log_prob(encoded, action)]
        if model.ent_coef and given[2] is None:
            raise UsageError(
                "the policy has no entropy in closed form, and ent_coef is not 0",
                where="ent_coef",
                fix="train with ent_coef=0",
            )
        numbers = [x.detach().cpu().numpy().reshape(-1) for x in (*given[:2], *measured)]
    if not all(np.allclose(numbers[i], numbers[i + 2], 1e-3, 1e-5) for i in (0, 1)):
        raise UsageError(
            f"evaluate_actions of {type(model.policy).__name__} gives other values or "
            "log-probabilities than its predict_values and get_distribution",
            where="policy",
            fix="make them agree: the one is trained, the others are measured",
        )
