"""A Stable-Baselines3 model's policy as functions of rows, and whether its score can be had."""

import copy
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import numpy as np
from gymnasium.spaces import Box, Dict, Discrete

from nbyt.errors import UsageError
from nbyt.gradients.torch_engine import TorchEngine
from nbyt.gradients.torch_modes import without_gradients
from nbyt.gradients.torch_policy import TorchPolicy, require_scores
from nbyt.integrations.sb3.package import module
from nbyt.integrations.sb3.packing import Packing
from nbyt.measure.live import LiveBatch, Loss

_LIVE = "give the model itself, as PPO(...) or PPO.load(...) returned it"


def require_measurable(model: Any) -> None:
    """Nothing, or a UsageError that says why this model's gradient cannot be measured."""
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
    require_scores(policy)


def torch_policy(model: Any) -> TorchPolicy:
    """The model's policy, alive: its parameters are read where they are."""
    policy, discrete = model.policy, isinstance(model.action_space, Discrete)
    outputs = _Encoded(policy) if _as_usual(policy) else _Whole(policy)

    def tensors(observation: np.ndarray, action: np.ndarray) -> tuple[Any, Any]:
        act = made.tensor(action)
        act = act.reshape(len(act)).long() if discrete else act.reshape(len(act), -1)
        return outputs.encoded(seen(model, made, observation)), act

    made = TorchPolicy(
        policy,
        lambda observation, action: outputs.law(observation).log_prob(action),
        lambda observation: outputs.value(observation)[:, 0],
        lambda observation: outputs.law(observation).entropy(),
        tensors,
    )
    return made


def seen(model: Any, policy: TorchPolicy, observation: np.ndarray) -> Any:
    """Packed observations as the model's policy takes them."""
    return Packing(model.observation_space).unpack(policy.tensor(observation))


class _Whole:
    """A policy through its public methods."""

    def __init__(self, policy: Any) -> None:
        self.law, self.value = policy.get_distribution, policy.predict_values

    def encoded(self, observation: Any) -> Any:
        """Observations as the methods take them."""
        return observation


class _Encoded:
    """The same behind its encoding of observations: torch cannot batch one that is one-hot."""

    def __init__(self, policy: Any) -> None:
        self._policy = policy
        self._preprocess = module("common.preprocessing").preprocess_obs

    def encoded(self, observation: Any) -> Any:
        """Observations as the policy's networks take them."""
        policy = self._policy
        return self._preprocess(
            observation, policy.observation_space, normalize_images=policy.normalize_images
        )

    def law(self, encoded: Any) -> Any:
        """The distribution of actions."""
        policy = self._policy
        latent = policy.mlp_extractor.forward_actor(policy.pi_features_extractor(encoded))
        return policy._get_action_dist_from_latent(latent)

    def value(self, encoded: Any) -> Any:
        """The critic's values, [R, 1]."""
        policy = self._policy
        return policy.value_net(
            policy.mlp_extractor.forward_critic(policy.vf_features_extractor(encoded))
        )


def _as_usual(policy: Any) -> bool:
    """Whether none of the methods that lie between observation and output is the user's own."""
    known = module("common.policies").ActorCriticPolicy
    names = (
        "extract_features",
        "get_distribution",
        "predict_values",
        "_get_action_dist_from_latent",
    )
    return all(getattr(type(policy), name) is getattr(known, name) for name in names)


def engine_of(model: Any) -> TorchEngine:
    """The gradients of the model's policy."""
    # Copies of the spaces: a draw from the model's own would be missing where its envs draw.
    spaces = copy.deepcopy((model.observation_space, model.action_space))
    observation, action = (space.sample() for space in spaces)
    packed = Packing(model.observation_space).pack(observation)
    return TorchEngine(torch_policy(model), (packed[None], np.asarray(action)[None]))


def loss_of(model: Any) -> Loss:
    """The numbers of the model's loss; SB3 does not halve the squared error."""
    return Loss(
        value_coefficient=2 * float(model.vf_coef),
        entropy_coefficient=float(model.ent_coef),
        normalise=bool(model.normalize_advantage),
    )


def batch_of(model: Any) -> LiveBatch:
    """The rollout that the model's buffer was just filled with."""
    buffer, space = model.rollout_buffer, model.observation_space
    observation = buffer.observations
    if isinstance(space, Dict):
        # The buffer gives a number an axis of its own, which the space does not have.
        rows = buffer.advantages.shape
        observation = {
            name: observation[name].reshape(*rows, *(part.shape or ()))
            for name, part in space.spaces.items()
        }
    packed = Packing(space).pack(observation)
    return LiveBatch(packed, np.array(buffer.actions), np.array(buffer.advantages))


@contextmanager
def untouched(policy: Any) -> Iterator[None]:
    """The policy is frozen inside, and outside as it was: its mode, and its last distribution."""
    kept, training = dict(vars(policy.action_dist)), policy.training
    policy.set_training_mode(False)
    try:
        with without_gradients():
            yield
    finally:
        policy.set_training_mode(training)
        vars(policy.action_dist).clear()
        vars(policy.action_dist).update(kept)


class SB3Mind:
    """The model's policy as a pool's actor and critic; its luck is torch's, as it stands."""

    def __init__(self, model: Any) -> None:
        self._model, self._policy = model, torch_policy(model)

    def actor(self, group: int, segment: int | None, steps: int, envs: int) -> "SB3Mind":
        """Itself: torch's generator goes on from segment to segment."""
        return self

    def act(self, observation: np.ndarray, time: int) -> tuple[np.ndarray, np.ndarray]:
        """Actions as the policy drew them, and as the envs take them."""
        model = self._model
        rows = seen(model, self._policy, observation)
        with without_gradients():
            action = model.policy.get_distribution(rows).get_actions().cpu().numpy()
        if not isinstance(model.action_space, Box):
            return action, action
        action = action.reshape(len(action), *model.action_space.shape)
        if model.policy.squash_output:
            return action, model.policy.unscale_action(action)
        return action, np.clip(action, model.action_space.low, model.action_space.high)

    def values(self, observation: np.ndarray) -> np.ndarray:
        """The critic's values of observations [L, n, ...]."""
        steps, envs = observation.shape[:2]
        flat = observation.reshape(steps * envs, *observation.shape[2:])
        rows = seen(self._model, self._policy, flat)
        with without_gradients():
            found = self._model.policy.predict_values(rows)
        return found.cpu().numpy().reshape(steps, envs)
