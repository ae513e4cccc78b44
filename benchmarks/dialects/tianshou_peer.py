"""Tianshou: mini-batches as its actor sees them, gradient steps as calls of its optimiser."""

from collections.abc import Mapping
from typing import Any

import gymnasium
import torch
from tianshou.algorithm import PPO
from tianshou.algorithm.modelfree.reinforce import ProbabilisticActorPolicy
from tianshou.algorithm.optim import AdamOptimizerFactory
from tianshou.data import Collector, VectorReplayBuffer
from tianshou.env import DummyVectorEnv
from tianshou.trainer import OnPolicyTrainerParams
from tianshou.utils.net.common import Net
from tianshou.utils.net.discrete import DiscreteActor, DiscreteCritic

from benchmarks.dialects.counted import Counted

_STATE, _ACTIONS = (4,), 2


def tianshou(settings: Mapping[str, Any]) -> Counted:
    """Tianshou's PPO with its on-policy trainer."""
    counted, envs = Counted(), settings["num_training_envs"]
    algorithm = _algorithm()
    venv = DummyVectorEnv([lambda: gymnasium.make("CartPole-v1") for _ in range(envs)])
    buffer = VectorReplayBuffer(20_000, envs)
    _count(algorithm, counted)
    names = ("max_epochs", "epoch_num_steps", "collection_step_num_env_steps", "batch_size")
    params = OnPolicyTrainerParams(
        training_collector=Collector(algorithm, venv, buffer),
        test_collector=None,
        update_step_num_repetitions=settings["update_step_num_repetitions"],
        verbose=False,
        show_progress=False,
        **{name: settings[name] for name in names},
    )
    algorithm.run_training(params)
    return counted


def _algorithm() -> PPO:
    net = Net(state_shape=_STATE, hidden_sizes=[8])
    actor = DiscreteActor(preprocess_net=net, action_shape=_ACTIONS)
    policy = ProbabilisticActorPolicy(
        actor=actor,
        dist_fn=lambda logits: torch.distributions.Categorical(probs=logits),
        action_space=gymnasium.spaces.Discrete(_ACTIONS),
        action_scaling=False,
        action_bound_method=None,
    )
    critic = DiscreteCritic(preprocess_net=Net(state_shape=_STATE, hidden_sizes=[8]))
    return PPO(policy=policy, critic=critic, optim=AdamOptimizerFactory(lr=1e-3))


def _count(algorithm: PPO, counted: Counted) -> None:
    """Count what the algorithm does from now on: in an update its policy sees mini-batches only."""
    update, step = algorithm._update_with_batch, algorithm.optim.step

    def updating(*given: Any, **named: Any) -> Any:
        counted.begin_update()
        hook = algorithm.policy.register_forward_pre_hook(
            lambda module, inputs: counted.see(len(inputs[0]))
        )
        try:
            return update(*given, **named)
        finally:
            hook.remove()

    def stepping(*given: Any, **named: Any) -> Any:
        counted.step()
        return step(*given, **named)

    algorithm._update_with_batch, algorithm.optim.step = updating, stepping
