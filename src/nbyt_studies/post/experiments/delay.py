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
from nbyt.envs.tabular import TabularEnv, from_arrays
from nbyt.exact.controls import Control
from nbyt.exact.values import optimal_values, policy_values
from nbyt.layout import Layout
from nbyt.policy.actor_critic import Stage, table
from nbyt.results.values import Data
from nbyt.rng import stream
from nbyt.stats import mean
from nbyt.training.plan import PPOSettings
from nbyt_studies.experiment import Context, Experiment, Training
from nbyt_studies.measure.starts import separation, start_share
from nbyt_studies.numbers import exact_number, median, shortened
from nbyt_studies.post.experiments.visits import RUNS, Run, training_of

STARTS = (256, 512)
AGAIN = 8
DYNAMICS_LENGTHS = (16, 64)
TABLE_LENGTHS = (4, 32)
DYNAMICS_POLICIES = ("uniform", "mid", "late")
_SHOWN = (1, 2, 4, 8, 16, 32, 64)
ACROBOT = Run(
    "acrobot", "gymnax:Acrobot-v1", Layout(16, 128, 64, 10), PPOSettings(), ((1, 20), (1, 40))
)


def run_dynamics(context: Context) -> Data:
    """Measure shares of the start, and separations, at an early and a late stage of each env."""
    runs = context.pick(RUNS[1:], (*RUNS[1:], ACROBOT))
    shares, apart = _exact_shares(context), []
    for number, run in enumerate(runs):
        training = training_of(context, run, 0)
        for words in ("early", "late"):
            case = {"env": run.env, "stage": words}
            context.progress(f"rollouts from the same starts, {run.env}", number, len(runs))
            for steps, share in zip(
                DYNAMICS_LENGTHS, _shares(context, training, words), strict=True
            ):
                shares.append({**case, "steps": steps, "share": share})
            context.progress(f"nearby starts, {run.env}", number, len(runs))
            apart.append({**case, **_separation(context, training, words)})
    return {"shares": shares, "separation": apart}


def _exact_shares(context: Context) -> list[Data]:
    """Return FrozenLake's shares, from the exact split of the variance."""
    rows = []
    for policy in DYNAMICS_POLICIES:
        control = exact.frozenlake(policy)
        for steps in TABLE_LENGTHS:
            options: Any = {"steps": steps, "gamma": control.gamma, "lam": control.lam}
            parts = exact.sources(control.env, control.stage, **options, centre=True).actor
            share = exact_number(parts.start / parts.variance)
            case = {"env": "tabular:FrozenLake8x8-v1", "stage": policy}
            rows.append({**case, "steps": steps, "share": share})
        context.progress("the start's share on FrozenLake", len(rows), 6)
    return rows


def _shares(context: Context, training: Training, words: str) -> list[Data]:
    stage = training.stages[0 if words == "early" else -1]
    settings = stage.facts["settings"]
    shares = start_share(
        training.env,  # type: ignore[arg-type]
        stage,
        starts=context.pick(*STARTS),
        again=AGAIN,
        steps=DYNAMICS_LENGTHS,
        gamma=settings["gamma"],
        lam=settings["lambda"],
        seed=context.seed,
    )
    return [one.as_dict() for one in shares]


def _separation(context: Context, training: Training, words: str) -> Data:
    env: Any = training.env
    stage = training.stages[0 if words == "early" else -1]
    longest = DYNAMICS_LENGTHS[-1]
    apart = separation(env, stage, starts=context.pick(*STARTS), steps=longest, seed=context.seed)
    shown = [step for step in _SHOWN if step <= longest]
    return {
        "steps": shown,
        "growth": [median(apart.growth[:, step - 1]).as_dict() for step in shown],
        "unrelated": median(apart.unrelated).as_dict(),
        "mean": mean(apart.growth[:, -1]).as_dict(),
        "pairs": len(apart.growth),
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
LENGTHS = ((4, 32), (4, 16, 64))
POLICIES = ("uniform", "softmax")
# The critic as a share of the policy's true values.
CRITICS = {"V = 0": 0.0, "V half right": 0.5}
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


def stage_of(env: TabularEnv, chosen: Float[np.ndarray, "S 4"], critic: float) -> Stage:
    """Return a table of these logits and of `critic` times their policy's values."""
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


def run(context: Context) -> Data:
    """Calculate bias and credit noise of the actor's gradient on four lakes."""
    lengths = context.pick(*LENGTHS)
    places = list(product((True, False), POLICIES, (True, False), CRITICS))
    rows = []
    for number, (slippery, policy, shaped, critic) in enumerate(places):
        env = lake(slippery=slippery, shaped=shaped)
        stage = stage_of(env, logits(slippery, policy), CRITICS[critic])
        for steps in lengths:
            numbers = _measured(env, stage, steps)
            ground, rewards = "slippery" if slippery else "firm", "shaped" if shaped else "sparse"
            case = {"ground": ground, "rewards": rewards, "policy": policy, "critic": critic}
            rows.append({**case, "steps": steps, **numbers})
        context.progress("calculating", number + 1, len(places))
    return {"rows": rows}


EXPERIMENTS = (
    Experiment("probability", "the probability of a trajectory", run_probability),
    Experiment("dynamics", "what the start decides", run_dynamics),
    Experiment("delay", "delayed rewards and slippery ground", run),
)
