"""The oracle against chance: rollouts drawn from the tables, with nothing else in common."""

import numpy as np
import pytest
from problems import probabilities, random_problem, values_of

from nbyt import exact

GAMMA, LAM, STEPS, ROLLOUTS, GROUPS = 0.95, 0.9, 16, 60_000, 60
BURN_IN = 80


def drawn(generator, law):
    """One index for each row of probabilities."""
    return (generator.random(len(law))[:, None] > np.cumsum(law, axis=1)[:, :-1]).sum(axis=1)


def simulate(env, stage, generator, burn_in):
    """States, actions, deltas and carries [T, n] of independent walks with same-step resets."""
    policy, values = probabilities(stage), values_of(stage)
    starts = np.broadcast_to(env.start, (ROLLOUTS, len(env.start)))
    state, made, rows = drawn(generator, starts), np.zeros(ROLLOUTS, int), []
    for _ in range(burn_in + STEPS):
        action = drawn(generator, policy[state])
        came = state, action, drawn(generator, env.outcomes.probability[state, action])
        after, terminated = env.outcomes.state[came], env.outcomes.terminated[came]
        made = made + 1
        truncated = ~terminated & (made == (env.time_limit or -1))
        rest = GAMMA * np.where(terminated, 0.0, values[after])
        delta = env.outcomes.reward[came] + rest - values[state]
        ended = terminated | truncated
        rows.append((state, action, delta, GAMMA * LAM * ~ended))
        state = np.where(ended, drawn(generator, starts), after)
        made = np.where(ended, 0, made)
    return [np.array(column) for column in zip(*rows[burn_in:], strict=True)]


def contributions(env, stage, generator, burn_in):
    """Actor and critic contributions [T, n, p]."""
    states, actions, deltas, carries = simulate(env, stage, generator, burn_in)
    advantage, later = np.empty_like(deltas), np.zeros(ROLLOUTS)
    for t in reversed(range(STEPS)):
        later = advantage[t] = deltas[t] + carries[t] * later
    policy = probabilities(stage)
    count, choices = policy.shape
    score = np.zeros((STEPS, ROLLOUTS, count, choices), np.float32)
    t, n = np.ogrid[:STEPS, :ROLLOUTS]
    score[t, n, states] = (np.eye(choices)[actions] - policy[states]) * advantage[..., None]
    value = np.zeros((STEPS, ROLLOUTS, count), np.float32)
    value[t, n, states] = advantage
    return {"actor": score.reshape(STEPS, ROLLOUTS, -1), "critic": value}


def distances(g, found):
    """How many standard errors the oracle's mean, variance and individual part are off."""
    whole = g.mean(axis=0, dtype=float)
    error = np.maximum(whole.std(axis=0) / np.sqrt(ROLLOUTS), 1e-12)
    groups = np.array_split(np.arange(ROLLOUTS), GROUPS)
    variance = [whole[rows].var(axis=0, ddof=1).sum() for rows in groups]
    single = [g[:, rows].var(axis=1, ddof=1, dtype=float).sum() / STEPS**2 for rows in groups]
    yield from np.abs(whole.mean(axis=0) - found.mean) / error
    for estimates, exact_value in ((variance, found.variance), (single, found.individual)):
        estimates = np.array(estimates)
        yield abs(estimates.mean() - exact_value) / (estimates.std(ddof=1) / np.sqrt(GROUPS))


@pytest.mark.parametrize(("time_limit", "start"), [(None, "stationary"), (7, "reset")])
def test_simulated_rollouts_agree(time_limit, start) -> None:
    """Six states and two actions; all of some forty numbers within 4 standard errors."""
    env, stage = random_problem(0, 6, 2, time_limit=time_limit, ends=0.05)
    burn_in = BURN_IN if start == "stationary" else 0
    g = contributions(env, stage, np.random.default_rng(0), burn_in)
    found = exact.moments(env, stage, steps=STEPS, gamma=GAMMA, lam=LAM, start=start)
    for part in ("actor", "critic"):
        assert max(distances(g[part], getattr(found, part))) < 4
