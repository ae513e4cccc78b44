"""Whether a model's gradient can be measured, decided before anything is trained or run."""

from typing import Any

from nbyt.errors import UsageError
from nbyt.gradients.torch_policy import require_scores
from nbyt.integrations.sb3.package import module

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
