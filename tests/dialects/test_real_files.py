"""Configuration files of other projects, reduced to facts; each answer was worked out by hand."""

from pathlib import Path
from typing import Any, NamedTuple

import pytest

from nbyt.cli.libraries import read_explanation
from nbyt.dialects.missing import MissingSettingsError


class Case(NamedTuple):
    """A file as its project nests it, what the command line adds, and what is to be said.

    answer: envs, steps over which advantages are computed, batch, mini-batch, gradient steps of an
    update, updates of the run. traps: codes, without those of the library itself.
    """

    library: str
    name: str
    text: str
    words: list[str]
    answer: tuple[Any, ...]
    traps: set[str]


REAL = {
    "IsaacLab, Ant, skrl": Case(
        "isaaclab+skrl",
        "skrl_ppo_cfg.yaml",
        """
models: {separate: false, policy: {class: GaussianMixin}}
memory: {class: RandomMemory, memory_size: -1}
agent:
  class: PPO
  rollouts: 16
  learning_epochs: 4
  mini_batches: 2
  lambda: 0.95
  learning_rate: 3.0e-04
  learning_rate_scheduler: KLAdaptiveLR
  learning_rate_scheduler_kwargs: {kl_threshold: 0.008}
trainer: {class: SequentialTrainer, timesteps: 8000}
""",
        ["num_envs=4096"],
        (4096, 16, 65_536, 32_768, 8, 500),
        set(),
    ),
    "IsaacLab, Ant, rl_games": Case(
        "isaaclab+rl_games",
        "rl_games_ppo_cfg.yaml",
        """
params:
  config:
    num_actors: -1
    horizon_length: 16
    minibatch_size: 32768
    mini_epochs: 4
    max_epochs: 500
    seq_length: 4
    lr_schedule: adaptive
""",
        ["env.scene.num_envs=4096"],
        (4096, 16, 65_536, 32_768, 8, 500),
        {"blocks"},
    ),
    "IsaacGymEnvs, Ant": Case(
        "IsaacGymEnvs",
        "AntPPO.yaml",
        """
params:
  seed: ${...seed}
  config:
    num_actors: ${....task.env.numEnvs}
    max_epochs: ${resolve_default:500,${....max_iterations}}
    horizon_length: 16
    minibatch_size: 32768
    mini_epochs: 4
    seq_len: 4
""",
        ["task.env.numEnvs=4096"],
        (4096, 16, 65_536, 32_768, 8, None),
        {"blocks"},
    ),
    "IsaacLab, Humanoid, SB3": Case(  # its comment says: mini-batches of 32768 with 4096 envs
        "isaaclab",
        "sb3_ppo_cfg.yaml",
        "seed: 42\nn_timesteps: !!float 5e7\nn_minibatches: 4\nn_steps: 32\nn_epochs: 5\n",
        ["agent.n_minibatches=4", "num_envs=4096"],
        (4096, 32, 131_072, 32_768, 20, 382),
        set(),
    ),
    "Orbit, ANYmal, rsl_rl": Case(
        "rsl_rl",
        "anymal_ppo.yaml",
        """
policy: {init_noise_std: 1.0}
algorithm: {num_learning_epochs: 5, num_mini_batches: 4, schedule: adaptive, desired_kl: 0.01}
runner: {num_steps_per_env: 24, max_iterations: 500, load_run: -1}
""",
        ["num_envs=4096"],
        (4096, 24, 98_304, 24_576, 20, 500),
        {"same_permutation"},
    ),
    "ML-Agents, 3DBall": Case(
        "unity",
        "3DBall.yaml",
        """
behaviors:
  3DBall:
    trainer_type: ppo
    hyperparameters: {batch_size: 64, buffer_size: 12000, lambd: 0.99, num_epoch: 3}
    reward_signals: {extrinsic: {gamma: 0.99, strength: 1.0}}
    max_steps: 500000
    time_horizon: 1000
""",
        ["num_agents=12"],  # 187 mini-batches of 64 leave 32 samples
        (12, 1000, 12_000, 64, 561, 42),
        {"tail_dropped"},
    ),
    "TorchRL, MuJoCo": Case(
        "torchrl",
        "config_mujoco.yaml",
        """
env: {env_name: HalfCheetah-v4}
collector: {frames_per_batch: 2048, total_frames: 1_000_000}
optim: {lr: 3e-4, anneal_lr: true}
loss: {gamma: 0.99, mini_batch_size: 64, ppo_epochs: 10, gae_lambda: 0.95, clip_epsilon: 0.2}
""",
        [],
        (1, 2048, 2048, 64, 320, 489),
        set(),
    ),
    "Stoix, PPO": Case(
        "stoix",
        "ff_ppo.yaml",
        "system_name: ff_ppo\nrollout_length: 128\nepochs: 4\nnum_minibatches: 4\nclip_eps: 0.1\n",
        ["arch.total_num_envs=1024"],
        (1024, 128, 131_072, 32_768, 16, None),
        set(),
    ),
    "PufferLib, defaults": Case(
        "puffer",
        "default.ini",
        """
[vec]
num_envs = 2
batch_size = auto
[train]
total_timesteps = 100_000_000
learning_rate = 0.015
update_epochs = 1
batch_size = auto
minibatch_size = 16384
bptt_horizon = 64
[sweep.train.minibatch_size]
min = 16384
""",
        ["num_agents=4096"],
        (4096, 64, 262_144, 16_384, 16, 382),
        {"unusual_default"},
    ),
    "Dopamine, MuJoCo": Case(  # its comment says: 160,000 gradient steps in all
        "dopamine",
        "ppo.gin",
        """
import dopamine.jax.agents.ppo.ppo_agent
PPOAgent.network = @continuous_networks.PPOActorCriticNetwork
PPOAgent.update_period = 2048
create_optimizer.anneal_steps = 160_000  # 500 iterations * 10 epochs * 2048 timesteps / 64
PPOAgent.num_epochs = 10
PPOAgent.batch_size = 64
ContinuousRunner.num_iterations = 500
ContinuousRunner.training_steps = 2048
ReplayBuffer.batch_size = 2048
""",
        [],
        (1, 2048, 2048, 64, 320, 500),
        {"blocks"},
    ),
    "rejax, CartPole": Case(
        "rejax",
        "cartpole.yaml",
        """
ppo: {env: CartPole-v1, num_envs: 5, num_steps: 100, num_epochs: 5, num_minibatches: 5,
      total_timesteps: 100_000, eval_freq: 1000, max_grad_norm: 0.5}
iqn: {env: CartPole-v1, target_update_freq: 1, kappa: 1.0}
""",
        [],
        (5, 100, 500, 100, 25, 200),
        set(),
    ),
    "RLlib, tuned Atari": Case(
        "rllib_old",
        "atari-ppo.yaml",
        """
atari-ppo:
  run: PPO
  config:
    lambda: 0.95
    train_batch_size: 5000
    rollout_fragment_length: 100
    sgd_minibatch_size: 500
    num_sgd_iter: 10
    num_env_runners: 10
    num_envs_per_env_runner: 5
""",
        [],
        (50, 100, 5000, 500, 100, None),
        set(),
    ),
    "CleanRL, a command": Case(
        "cleanrl_atari",
        "run.sh",
        "poetry run python cleanrl/ppo_atari.py --env-id BreakoutNoFrameskip-v4 --track "
        "--no-anneal-lr --num-envs 8 --num-steps 128 --total-timesteps 10000000 --no-clip-vloss",
        [],
        (8, 128, 1024, 256, 16, 9765),
        set(),
    ),
    "IsaacLab, a command": Case(
        "isaaclab+rsl_rl",
        "train.sh",
        "python scripts/reinforcement_learning/rsl_rl/train.py --task Isaac-Ant-v0 --headless "
        "--num_envs 2048 agent.num_steps_per_env=32 agent.algorithm.num_mini_batches=8",
        [],
        (2048, 32, 65_536, 8192, 40, None),
        {"same_permutation"},
    ),
}


@pytest.mark.parametrize("case", REAL.values(), ids=REAL)
def test_a_real_file_is_read_as_its_project_has_it(case: Case, tmp_path: Path) -> None:
    path = tmp_path / case.name
    path.write_text(case.text)
    found = read_explanation(case.library, case.words, path)
    size, schedule = found.layout, found.schedule
    answer = (size["envs"], size["fragment"], size["batch"], size["minibatch"])
    answer += (schedule["gradient_steps_per_update"], schedule["updates"])
    assert answer == case.answer
    assert {trap.code for trap in found.traps} == case.traps


def test_what_dopamine_says_of_itself_is_the_product() -> None:
    *_, steps, updates = REAL["Dopamine, MuJoCo"].answer
    assert steps * updates == 160_000


def test_a_file_that_leaves_the_envs_open_asks_for_them_alone(tmp_path: Path) -> None:
    path = tmp_path / "ant.yaml"
    path.write_text(REAL["IsaacLab, Ant, rl_games"].text)
    with pytest.raises(MissingSettingsError) as caught:
        read_explanation("rl_games", [], path)
    assert caught.value.missing == ["num_actors"]
