"""Delayed rewards and slippery ground: bias and credit noise, calculated on FrozenLake's map."""

from itertools import product
from typing import Any

import numpy as np
from gymnasium.envs.toy_text.frozen_lake import MAPS
from jaxtyping import Bool, Float, Int
from scipy.special import softmax

from nbyt import exact
from nbyt.envs.tabular import TabularEnv, from_arrays
from nbyt.exact.values import optimal_values, policy_values
from nbyt.policy.stage import Stage, table
from nbyt.results.values import Data
from nbyt.studies.bench import Bench
from nbyt.studies.study import Experiment

GAMMA, LAM = 0.99, 0.95
LENGTHS = ((4, 32), (4, 16, 64))
POLICIES = ("uniform", "softmax")
# The critic as a share of the policy's true values.
CRITICS = {"V = 0": 0.0, "V half right": 0.5}
# Of a typical state's distance between its best and its worst action.
_TEMPERATURE = 0.25
_MOVES = ((0, -1), (1, 0), (0, 1), (-1, 0))  # left, down, right, up


def lake(*, slippery: bool, shaped: bool) -> TabularEnv:
    """FrozenLake 8x8 without its time limit; reaching the goal earns 1 in all.

    Sparse: all of it in the last step. Shaped: each step earns the fraction of the way to the goal
    that it goes, counted in rows and columns.
    """
    grid = np.array([list(row) for row in MAPS["8x8"]])
    moves, over = _moves(grid), np.isin(grid, ["H", "G"]).ravel()
    states = np.arange(grid.size)
    transition = np.zeros((grid.size, len(_MOVES), grid.size))
    for turn in (-1, 0, 1) if slippery else (0,):
        for action in range(len(_MOVES)):
            after = np.where(over, states, moves[:, (action + turn) % len(_MOVES)])
            transition[states, action, after] += 1 / 3 if slippery else 1.0
    terminated = np.broadcast_to(over, transition.shape)
    name = f"{'slippery' if slippery else 'firm'}-{'shaped' if shaped else 'sparse'}"
    reward = np.broadcast_to(_rewards(grid, over, shaped), transition.shape)
    start = (grid == "S").ravel().astype(float)
    return from_arrays(transition, reward, terminated, start, id=f"tabular:lake-{name}")


def _moves(grid: np.ndarray) -> Int[np.ndarray, "S 4"]:
    """Where each action leads on firm ground; a wall holds."""
    high, wide = grid.shape
    row, column = np.divmod(np.arange(grid.size), wide)
    return np.stack(
        [
            np.clip(row + down, 0, high - 1) * wide + np.clip(column + right, 0, wide - 1)
            for down, right in _MOVES
        ],
        axis=1,
    )


def _rewards(
    grid: np.ndarray, over: Bool[np.ndarray, " S"], shaped: bool
) -> Float[np.ndarray, "S 1 S"]:
    goal = (grid == "G").ravel()
    row, column = np.divmod(np.arange(grid.size), grid.shape[1])
    away = np.abs(row - row[goal]) + np.abs(column - column[goal])
    gains = (away[:, None] - away[None, :]) / away.max() if shaped else goal[None, :]
    return np.where(over[:, None], 0.0, gains)[:, None, :]


def logits(slippery: bool, policy: str) -> Float[np.ndarray, "S 4"]:
    """The policy's logits, the same whether rewards are sparse or shaped.

    softmax: of the best action values for sparse rewards, at a fixed relative temperature.
    """
    best = optimal_values(lake(slippery=slippery, shaped=False), GAMMA).action
    if policy == "uniform":
        return np.zeros_like(best)
    width = best.max(axis=1) - best.min(axis=1)
    return best / (_TEMPERATURE * width[width > 0].mean())


def stage_of(env: TabularEnv, chosen: Float[np.ndarray, "S 4"], critic: float) -> Stage:
    """A table of these logits and of `critic` times their policy's values."""
    return table(chosen, critic * policy_values(env, softmax(chosen, axis=1), GAMMA).state)


def _measured(env: TabularEnv, stage: Stage, steps: int) -> dict[str, float]:
    options: Any = {"steps": steps, "gamma": GAMMA, "lam": LAM}
    moments = exact.moments(env, stage, **options).actor
    sources = exact.sources(env, stage, **options).actor
    true = float(moments.reference @ moments.reference)
    return {
        "bias": float(np.sqrt(moments.bias.squared / true)),
        "credit_share": sources.credit / sources.variance,
        "credit": sources.credit / true,
    }


def run(bench: Bench) -> Data:
    """Bias and credit noise of the actor's gradient on four lakes."""
    lengths = bench.pick(*LENGTHS)
    places = list(product((True, False), POLICIES, (True, False), CRITICS))
    rows = []
    for number, (slippery, policy, shaped, critic) in enumerate(places):
        env = lake(slippery=slippery, shaped=shaped)
        stage = stage_of(env, logits(slippery, policy), CRITICS[critic])
        for steps in lengths:
            found = _measured(env, stage, steps)
            ground, rewards = "slippery" if slippery else "firm", "shaped" if shaped else "sparse"
            case = {"ground": ground, "rewards": rewards, "policy": policy, "critic": critic}
            rows.append({**case, "steps": steps, **found})
        bench.progress("calculating", number + 1, len(places))
    return {"rows": rows}


EXPERIMENTS = (Experiment("delay", "delayed rewards and slippery ground", run),)
