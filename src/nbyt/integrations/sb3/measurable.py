"""Whether a model's gradient can be measured, decided before anything is trained or run."""

from typing import Any

import numpy as np

from nbyt.errors import UsageError
from nbyt.gradients.engines.torch import TorchEngine
from nbyt.gradients.engines.torch_policy import require_scores
from nbyt.integrations.sb3.package import module
from nbyt.integrations.sb3.policy import seen, untouched

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
    require_scores(policy, trained_here=True)


def require_as_trained(model: Any, engine: TorchEngine) -> None:
    """Nothing, or a UsageError if the policy is trained by other numbers than those measured.

    SB3 trains with `evaluate_actions`, which a policy of the user's own may have made anew.
    """
    policy = engine.policy
    with untouched(model.policy):
        encoded, action = policy.rows(*engine.row)
        given = model.policy.evaluate_actions(seen(model, policy, engine.row[0]), action)
        made = [policy.value(encoded), policy.log_prob(encoded, action)]
        if model.ent_coef and given[2] is None:
            raise UsageError(
                "the policy has no entropy in closed form, and ent_coef is not 0",
                where="ent_coef",
                fix="train with ent_coef=0",
            )
        pairs = zip(given[:2], made, strict=True)
        same = [np.allclose(_numbers(a), _numbers(b), 1e-3, 1e-5) for a, b in pairs]
    if not all(same):
        raise UsageError(
            f"evaluate_actions of {type(model.policy).__name__} gives other values or "
            "log-probabilities than its predict_values and get_distribution",
            where="policy",
            fix="make them agree: the one is trained, the others are measured",
        )


def _numbers(tensor: Any) -> np.ndarray:
    return tensor.detach().cpu().numpy().reshape(-1)
