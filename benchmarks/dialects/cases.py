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
