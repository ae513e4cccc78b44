"""skrl: mini-batches as its memory gives them out, gradient steps as calls of its optimiser."""

from collections.abc import Mapping
from typing import Any

import gymnasium
import torch
from skrl.agents.torch.ppo import PPO, PPO_CFG
from skrl.envs.wrappers.torch import wrap_env
from skrl.memories.torch import RandomMemory
from skrl.models.torch import CategoricalMixin, DeterministicMixin, Model
from skrl.trainers.torch import SequentialTrainer

from benchmarks.dialects.counted import Counted


class _Policy(CategoricalMixin, Model):
    def __init__(self, env: Any) -> None:
        Model.__init__(
            self,
            observation_space=env.observation_space,
            action_space=env.action_space,
            device="cpu",
        )
        CategoricalMixin.__init__(self)
        self.net = torch.nn.Linear(self.num_observations, self.num_actions)

    def compute(self, inputs: Any, role: str) -> Any:
        return self.net(inputs["observations"]), {}


class _Value(DeterministicMixin, Model):
    def __init__(self, env: Any) -> None:
        Model.__init__(
            self,
            observation_space=env.observation_space,
            action_space=env.action_space,
            device="cpu",
        )
        DeterministicMixin.__init__(self)
        self.net = torch.nn.Linear(self.num_observations, 1)

    def compute(self, inputs: Any, role: str) -> Any:
        return self.net(inputs["observations"]), {}


def skrl(settings: Mapping[str, Any]) -> Counted:
    """skrl's PPO with its sequential trainer."""
    counted = Counted()
    env = wrap_env(gymnasium.make_vec("CartPole-v1", num_envs=settings["num_envs"]))
    memory = RandomMemory(
        memory_size=settings["rollouts"], num_envs=settings["num_envs"], device="cpu"
    )
    names = ("rollouts", "mini_batches", "learning_epochs")
    config = PPO_CFG(**{name: settings[name] for name in names})
    config.experiment.write_interval = config.experiment.checkpoint_interval = 0
    agent = PPO(
        models={"policy": _Policy(env), "value": _Value(env)},
        memory=memory,
        cfg=config,
        observation_space=env.observation_space,
        action_space=env.action_space,
        device="cpu",
    )
    trainer_config = {
        "timesteps": settings["timesteps"],
        "disable_progressbar": True,
        "headless": True,
    }
    trainer = SequentialTrainer(cfg=trainer_config, env=env, agents=agent)
    _count(agent, memory, counted)
    trainer.train()
    return counted


def _count(agent: Any, memory: Any, counted: Counted) -> None:
    """Count what the agent does from now on."""
    update, sample, step = agent.update, memory.sample, agent.optimizer.step

    def updating(**named: Any) -> None:
        counted.begin_update()
        update(**named)

    def sampling(**named: Any) -> Any:
        minibatches = sample(**named)
        for minibatch in minibatches:
            counted.see(len(minibatch[0]))
        return minibatches

    def stepping(*given: Any, **named: Any) -> Any:
        counted.step()
        return step(*given, **named)

    agent.update, memory.sample, agent.optimizer.step = updating, sampling, stepping
