"""Whole episodes through plain Gymnasium, the same code for every policy."""

from collections.abc import Callable

import gymnasium
import numpy as np

Choose = Callable[[np.ndarray], np.ndarray]


def episode_returns(env_id: str, choose: Choose, episodes: int, seed: int) -> list[float]:
    """Returns of one whole episode in each of `episodes` fresh envs.

    `choose` turns observations [episodes, ...] into actions. Envs whose episode has ended stand
    still, so short episodes are not favoured.
    """
    envs = [gymnasium.make(env_id) for _ in range(episodes)]
    rows = [env.reset(seed=seed + place)[0] for place, env in enumerate(envs)]
    observation, total, under_way = np.stack(rows), np.zeros(episodes), set(range(episodes))
    while under_way:
        actions = choose(observation)
        for place in sorted(under_way):
            row, reward, terminated, truncated, _ = envs[place].step(actions[place])
            observation[place] = row
            total[place] += float(reward)
            if terminated or truncated:
                under_way.remove(place)
    for env in envs:
        env.close()
    return [float(value) for value in total]


def random_returns(env_id: str, episodes: int, seed: int) -> list[float]:
    """Returns of whole episodes of uniformly random actions."""
    space = gymnasium.make(env_id).action_space
    space.seed(seed)
    return episode_returns(
        env_id, lambda rows: np.stack([space.sample() for _ in rows]), episodes, seed
    )
