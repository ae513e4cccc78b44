"""TorchRL: frames as its collector gives them, mini-batches as its sampler draws them."""

from collections.abc import Mapping
from typing import Any

import torch
from tensordict.nn import TensorDictModule
from torchrl.collectors import Collector
from torchrl.data import LazyTensorStorage, ReplayBuffer, SamplerWithoutReplacement
from torchrl.envs import GymEnv, SerialEnv
from torchrl.modules import ProbabilisticActor, ValueOperator
from torchrl.objectives import ClipPPOLoss
from torchrl.objectives.value import GAE

from benchmarks.dialects.counted import Counted


def torchrl(settings: Mapping[str, Any]) -> Counted:
    """The loop of TorchRL's PPO recipe around its own collector, buffer, sampler and loss."""
    counted = Counted()
    policy, critic = _policy(), ValueOperator(torch.nn.Linear(4, 1), in_keys=["observation"])
    loss = ClipPPOLoss(policy, critic)
    advantage = GAE(gamma=0.99, lmbda=0.95, value_network=critic)
    optimiser = torch.optim.Adam(loss.parameters())
    env = SerialEnv(settings["num_envs"], lambda: GymEnv("CartPole-v1"))
    names = ("frames_per_batch", "total_frames")
    collector = Collector(env, policy, **{name: settings[name] for name in names})
    for frames in collector:
        counted.begin_update()
        buffer = ReplayBuffer(
            storage=LazyTensorStorage(frames.numel()),
            sampler=SamplerWithoutReplacement(),
            batch_size=settings["mini_batch_size"],
        )
        with torch.no_grad():
            data = advantage(frames).reshape(-1)
        for _ in range(settings["ppo_epochs"]):
            buffer.empty()
            buffer.extend(data)
            for minibatch in buffer:
                counted.see(len(minibatch))
                found = loss(minibatch)
                optimiser.zero_grad()
                names = ("loss_objective", "loss_critic", "loss_entropy")
                torch.stack([found[name] for name in names]).sum().backward()
                optimiser.step()
                counted.step()
    collector.shutdown()
    return counted


def _policy() -> ProbabilisticActor:

    net = TensorDictModule(torch.nn.Linear(4, 2), in_keys=["observation"], out_keys=["logits"])
    return ProbabilisticActor(
        net,
        in_keys=["logits"],
        distribution_class=torch.distributions.OneHotCategorical,
        return_log_prob=True,
    )
