"""The settings that are run: tiny, with rests of every kind and some that are refused."""

from typing import Any

Settings = dict[str, Any]


def _named(names: str, *rows: tuple[int | None, ...]) -> list[Settings]:
    return [dict(zip(names.split(), row, strict=True)) for row in rows]


BASELINES = _named(
    "n_envs n_steps batch_size n_epochs total_timesteps",
    (1, 64, 64, 2, 192),
    (4, 16, 16, 3, 200),
    (10, 100, 64, 1, 1000),
    (8, 125, 64, 2, 2000),
    (3, 7, 5, 2, 50),
    (2, 32, 100, 1, 128),
    (5, 20, 33, 3, 300),
    (1, 50, 49, 2, 100),
    (4, 16, 1, 1, 64),
    (6, 11, 13, 4, 200),
    (2, 8, 16, 5, 33),
    (7, 9, 62, 1, 64),
)
REJAX = _named(
    "num_envs num_steps num_minibatches num_epochs total_timesteps eval_freq",
    (4, 16, 4, 2, 256, 64),
    (4, 16, 4, 2, 256, 128),
    (8, 8, 1, 3, 200, 64),
    (10, 100, 3, 1, 1000, 1000),
    (10, 100, 4, 1, 2000, 1000),
    (3, 7, 3, 2, 63, 21),
    (3, 7, 5, 2, 63, 21),
    (2, 64, 8, 1, 256, 64),
    (5, 10, 25, 1, 100, 30),
    (8, 16, 5, 1, 256, 128),
    (1, 32, 32, 1, 70, 32),
    (6, 6, 9, 4, 100, 100),
)
SKRL = _named(
    "num_envs rollouts mini_batches learning_epochs timesteps",
    (1, 16, 2, 2, 32),
    (4, 16, 4, 3, 40),
    (10, 100, 3, 1, 100),
    (5, 7, 3, 2, 21),
    (3, 11, 4, 2, 30),
    (8, 8, 5, 1, 16),
    (2, 9, 1, 4, 27),
    (7, 3, 10, 1, 9),
    (6, 5, 7, 3, 13),
    (2, 4, 8, 2, 8),
    (4, 33, 6, 1, 70),
    (9, 2, 4, 5, 4),
)
TIANSHOU = _named(
    "num_training_envs collection_step_num_env_steps batch_size update_step_num_repetitions "
    "epoch_num_steps max_epochs",
    (1, 64, 64, 2, 64, 2),
    (4, 64, 16, 3, 128, 1),
    (10, 1000, 64, 1, 1000, 1),
    (3, 100, 33, 2, 100, 2),
    (2, 50, 49, 1, 100, 1),
    (5, 37, 6, 2, 74, 1),
    (4, 40, 100, 1, 80, 1),
    (8, 125, 64, 2, 300, 1),
    (6, 66, 13, 4, 66, 3),
    (2, 32, None, 3, 64, 1),
    (7, 63, 62, 1, 63, 1),
    (1, 30, 7, 2, 45, 2),
)
CLEANRL = _named(
    "num_envs num_steps num_minibatches update_epochs total_timesteps",
    (4, 16, 4, 2, 200),
    (8, 128, 5, 1, 2048),
    (10, 100, 4, 1, 1000),
    (5, 7, 3, 2, 100),
    (1, 64, 32, 1, 128),
    (3, 11, 4, 3, 99),
    (2, 9, 5, 2, 40),
    (6, 6, 7, 2, 72),
    (7, 3, 10, 1, 63),
    (4, 33, 6, 1, 300),
    (9, 2, 4, 5, 36),
    (2, 8, 1, 3, 33),
)
RSL_RL = _named(
    "num_envs num_steps_per_env num_mini_batches num_learning_epochs num_learning_iterations",
    (4, 16, 4, 2, 3),
    (10, 10, 3, 1, 2),
    (8, 24, 4, 5, 2),
    (5, 7, 3, 2, 2),
    (64, 24, 4, 5, 1),
    (3, 11, 4, 3, 2),
    (2, 9, 5, 2, 3),
    (6, 6, 7, 2, 2),
    (7, 3, 10, 1, 2),
    (4, 33, 6, 1, 2),
    (9, 2, 4, 5, 2),
    (2, 8, 1, 3, 4),
)
BRAX = _named(
    "num_envs unroll_length batch_size num_minibatches num_updates_per_batch num_timesteps",
    (4, 5, 4, 4, 2, 160),
    (8, 5, 4, 4, 1, 200),
    (2, 10, 3, 2, 3, 100),
    (4, 5, 3, 3, 1, 90),
    (1, 4, 2, 3, 2, 50),
    (6, 3, 6, 2, 1, 100),
    (16, 2, 4, 4, 4, 64),
    (3, 7, 3, 5, 2, 210),
    (5, 2, 4, 4, 1, 64),
    (8, 1, 8, 2, 3, 33),
    (2, 6, 2, 1, 5, 30),
    (12, 4, 4, 6, 1, 200),
)
TORCHRL = _named(
    "num_envs frames_per_batch mini_batch_size ppo_epochs total_frames",
    (1, 64, 64, 2, 192),
    (4, 64, 16, 3, 200),
    (2, 100, 33, 2, 200),
    (3, 100, 64, 1, 306),
    (5, 37, 6, 2, 80),
    (1, 50, 49, 2, 100),
    (4, 40, 100, 1, 80),
    (6, 66, 13, 4, 132),
    (2, 32, 5, 1, 64),
    (7, 63, 62, 1, 63),
    (1, 30, 7, 2, 90),
    (8, 125, 64, 1, 256),
)
