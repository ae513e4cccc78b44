"""Delayed rewards and slippery ground, starts, and trajectory probabilities."""

from itertools import product
from typing import Any

import jax
import numpy as np
from gymnasium.envs.toy_text.frozen_lake import MAPS
from jaxtyping import Bool, Float, Int
from scipy.special import softmax

from nbyt import exact
from nbyt.collect.device import collect, start
from nbyt.collect.pool import Pool
from nbyt.envs.tabular import TabularEnv, from_arrays
from nbyt.exact.controls import Control
from nbyt.exact.values import optimal_values, policy_values
from nbyt.layout import Layout
from nbyt.policy.actor_critic import Stage, table
from nbyt.results.values import Data
from nbyt.rng import stream
from nbyt.training.plan import PPOSettings
from nbyt_studies.experiment import Context, Experiment, Training
from nbyt_studies.measure.batches import collect_batches
from nbyt_studies.measure.starts import separation
from nbyt_studies.numbers import shortened
from nbyt_studies.post.experiments.visits import RUNS, SEEDS, Run, training_of

STARTS = (256, 512)
LONGEST = 64
_SHOWN = (1, 2, 4, 8, 16, 32, 64)
ACROBOT = Run(
    "acrobot", "gymnax:Acrobot-v1", Layout(16, 128, 64, 10), PPOSettings(), ((1, 20), (1, 40))
)


def run_dynamics(context: Context) -> Data:
    """Measure how far nearby starts lead apart, at an early and a late stage of each training."""
    runs = context.pick(RUNS[1:], (*RUNS[1:], ACROBOT))
    rows = []
    for number, run in enumerate(runs):
        for seed in range(context.pick(*SEEDS)):
            training = training_of(context, run, seed)
            for words in ("early", "late"):
                context.progress(f"nearby starts, {run.env}, training {seed}", number, len(runs))
                case = {"env": run.env, "stage": words, "seed": seed}
                rows.append({**case, **_separation(context, training, words)})
    return {"separation": rows}


def _separation(context: Context, training: Training, words: str) -> Data:
    env: Any = training.env
    stage = training.stages[0 if words == "early" else -1]
    apart = separation(env, stage, starts=context.pick(*STARTS), steps=LONGEST, seed=context.seed)
    shown = [step for step in _SHOWN if step <= LONGEST]
    return {
        "steps": shown,
        "growth": [float(np.median(apart.growth[:, step - 1])) for step in shown],
        "unrelated": float(np.median(apart.unrelated)),
    }


PROBABILITY_LENGTHS = (1, 2, 3, 4)
TRAJECTORY = 64


def run_probability(context: Context) -> Data:
    """Sum over all trajectories of a few tables, and sample probabilities of others."""
    controls = [exact.sticky(), exact.garnet(4, 2, context.seed), exact.frozenlake("mid")]
    places = [(control, steps) for control in controls for steps in PROBABILITY_LENGTHS]
    sums = []
    for number, (control, steps) in enumerate(places):
        sums.append({"env": control.name, "steps": steps, **_summed(control, steps)})
        context.progress("adding up all trajectories", number + 1, len(places))
    seen = _sampled(controls[-1], context.seed, context.pick(200, 1000))
    context.progress("sampling trajectories", 1, 1)
    return {"sums": sums, "steps": TRAJECTORY, "log10": shortened(seen)}


def _summed(control: Control, steps: int) -> dict[str, float | int]:
    some = list(exact.possible_trajectories(control.env, steps))
    parts = [exact.trajectory_probability(control.env, control.stage, *one) for one in some]
    return {"count": sum(map(len, parts)), "sum": float(np.concatenate(parts).sum())}


def _sampled(control: Control, seed: int, count: int) -> Float[np.ndarray, " n"]:
    """Return log10 P of sampled episodes, cut after so many steps."""
    env, stage = control.env, control.stage
    key = stream(jax.random.key(seed), "probability")
    runner = start(env, count, key)
    sample = jax.jit(
        lambda params, here: collect(env, stage.policy, params, here, key, TRAJECTORY + 1)
    )
    rollout = jax.device_get(sample(stage.params, runner)[1])
    ended = np.cumsum(rollout.terminated, axis=0)
    logs = []
    for n in range(count):
        # An episode that ended shows its next one's start: the last state is then not at hand.
        steps = int((ended[:TRAJECTORY, n] == 0).sum())
        path = rollout.observation[: steps + 1, n], rollout.action[:steps, n]
        logs.append(float(exact.trajectory_log_probability(env, stage, *path)) / np.log(10))
    return np.array(logs)


GAMMA, LAM = 0.99, 0.95
LENGTHS = ((4, 32), (4, 64))
POLICIES = ("uniform", "softmax")
# A critic knows what a batch of the usual size shows; so many batches, each with its own critic.
SHOWN_BY, BATCHES = (16, 128), (3, 5)
# Of a typical state's distance between its best and its worst action.
_TEMPERATURE = 0.25
_MOVES = ((0, -1), (1, 0), (0, 1), (-1, 0))  # left, down, right, up


def lake(*, slippery: bool, shaped: bool) -> TabularEnv:
    """Return FrozenLake 8x8 without its time limit; reaching the goal earns 1 in all.

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
    """Return where each action leads on firm ground; a wall holds."""
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
    """Return the policy's logits, the same whether rewards are sparse or shaped.

    softmax: of the best action values for sparse rewards, at a fixed relative temperature.
    """
    best = optimal_values(lake(slippery=slippery, shaped=False), GAMMA).action
    if policy == "uniform":
        return np.zeros_like(best)
    width = best.max(axis=1) - best.min(axis=1)
    return best / (_TEMPERATURE * width[width > 0].mean())


def fitted(env: TabularEnv, pool: Pool) -> Float[np.ndarray, " S"]:
    """Return the values that a batch shows: those of its own frequencies, 0 where it never was."""
    states = len(env.start)
    here, reward = pool.observation[:-1].ravel(), np.asarray(pool.reward, float)[:-1].ravel()
    there, ended = pool.observation[1:].ravel(), pool.terminated[:-1].ravel()
    visits = np.maximum(np.bincount(here, minlength=states), 1)
    moved = np.zeros((states, states))
    np.add.at(moved, (here, there), ~ended)
    earned = np.bincount(here, weights=reward, minlength=states) / visits
    return np.linalg.solve(np.eye(states) - GAMMA * moved / visits[:, None], earned)


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


def run(context: Context) -> Data:
    """Calculate bias and credit noise on four lakes, with critics that batches of steps gave."""
    lengths, count = context.pick(*LENGTHS), context.pick(*BATCHES)
    places = list(product((True, False), POLICIES, (True, False)))
    rows = []
    for number, (slippery, policy, shaped) in enumerate(places):
        env, chosen = lake(slippery=slippery, shaped=shaped), logits(slippery, policy)
        law = softmax(chosen, axis=1)
        blind = table(chosen, 0 * policy_values(env, law, GAMMA).state)
        pools = collect_batches(
            env, blind, [(SHOWN_BY[0] * count, SHOWN_BY[1])], batches=1, seed=context.seed
        )
        ground, rewards = "slippery" if slippery else "firm", "shaped" if shaped else "sparse"
        case = {"ground": ground, "rewards": rewards, "policy": policy}
        for batch in range(count):
            own = slice(batch * SHOWN_BY[0], (batch + 1) * SHOWN_BY[0])
            pool = Pool(*(array[:, own] for array in pools[0]))
            stage = table(chosen, fitted(env, pool))
            for steps in lengths:
                numbers = _measured(env, stage, steps)
                rows.append({**case, "batch": batch, "steps": steps, **numbers})
        context.progress("calculating", number + 1, len(places))
    return {"rows": rows}


EXPERIMENTS = (
    Experiment("probability", "the probability of a trajectory", run_probability),
    Experiment("dynamics", "what the start decides", run_dynamics),
    Experiment("delay", "delayed rewards and slippery ground", run),
)
