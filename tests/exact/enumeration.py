"""The second implementation: every possible rollout written out, one by one.

It knows nothing of recursions. An expectation is a sum over rollouts, a conditional one a sum over
those that agree so far.
"""

from collections import defaultdict
from typing import NamedTuple

import numpy as np
from problems import action_values, iterated_values, probabilities, values_of

FILLER = "filler"


class Row(NamedTuple):
    """One step: where, which action, what came of it, and where the walk is next."""

    place: object
    action: int
    after: int
    reward: float
    terminated: bool
    truncated: bool
    next_place: object


class Rollouts(NamedTuple):
    """All rollouts: their probabilities [n], rows [n][T], advantages [n, T], valid [n, T]."""

    probability: np.ndarray
    rows: list
    advantage: np.ndarray
    valid: np.ndarray


def enumerate_rollouts(env, stage, *, steps, gamma, lam, start, autoreset) -> Rollouts:
    """Every rollout of `steps` rows; a place is (state, steps made) or the filler."""
    policy = probabilities(stage)
    begin = {(s, 0): p for s, p in enumerate(env.start) if p > 0}
    if start == "stationary":
        begin = stationary(env, policy, begin, autoreset)
    found = []

    def grow(place, probability, rows):
        if len(rows) == steps:
            found.append((probability, rows))
            return
        for share, row in rows_from(env, policy, place, autoreset):
            grow(row.next_place, probability * share, [*rows, row])

    for place, probability in begin.items():
        grow(place, probability, [])
    advantage = [gae(rows, values_of(stage), gamma, lam) for _, rows in found]
    valid = [[row.place != FILLER for row in rows] for _, rows in found]
    weight = np.array([probability for probability, _ in found])
    return Rollouts(weight, [rows for _, rows in found], np.array(advantage), np.array(valid))


def rows_from(env, policy, place, autoreset):
    """(probability, row) of everything that can happen in a place."""
    starts = [((s, 0), p) for s, p in enumerate(env.start) if p > 0]
    if place == FILLER:
        for there, share in starts:
            yield share, Row(FILLER, 0, 0, 0.0, False, False, there)
        return
    s, made = place
    for a in range(policy.shape[1]):
        for chance, after, reward, terminated in zip(
            *(part[s, a].tolist() for part in env.outcomes), strict=True
        ):
            share = policy[s, a] * chance
            truncated = not terminated and made + 1 == env.time_limit
            counted = made + 1 if env.time_limit else 0
            onward = [((after, counted), 1.0)]
            if terminated or truncated:
                onward = [(FILLER, 1.0)] if autoreset == "next-step" else starts
            for there, part in onward:
                if share:
                    row = (a, after, reward, terminated, truncated, there)
                    yield share * part, Row(place, *row)


def stationary(env, policy, begin, autoreset):
    """The long-run law of the places, by squaring the matrix of a lazy walk."""
    places, edges = list(begin), {}
    for place in places:  # the list grows while new places are found
        edges[place] = list(rows_from(env, policy, place, autoreset))
        places.extend({row.next_place for _, row in edges[place]} - set(places))
    moves = np.zeros((len(places), len(places)))
    for place, rows in edges.items():
        for share, row in rows:
            moves[places.index(place), places.index(row.next_place)] += share
    lazy = (np.eye(len(places)) + moves) / 2
    for _ in range(30):
        lazy = lazy @ lazy
        lazy /= lazy.sum(axis=1, keepdims=True)
    return dict(zip(places, lazy[0], strict=True))


def gae(rows, values, gamma, lam):
    """Sums of (gamma lam)^k delta, up to the end of the episode or of the rollout."""
    made = []
    for t in range(len(rows)):
        total, weight = 0.0, 1.0
        for row in rows[t:]:
            if row.place == FILLER:
                break
            rest = 0.0 if row.terminated else values[row.after]
            total += weight * (row.reward + gamma * rest - values[row.place[0]])
            weight *= gamma * lam
            if row.terminated or row.truncated:
                break
        made.append(total)
    return made


def contributions(rollouts: Rollouts, stage, part, *, centre, value, entropy):
    """(f, b) of every step, each [n, T, p], for the parameters of one gradient."""
    policy = probabilities(stage)
    states, actions = policy.shape
    mean, spread = moments_of_advantage(rollouts) if centre else (0.0, 1.0)
    size = states * actions
    scale = np.zeros((*rollouts.advantage.shape, size + states))
    shift = np.zeros_like(scale)
    surprise = np.log(policy) - (policy * np.log(policy)).sum(axis=1, keepdims=True)
    slope = -policy * surprise  # the derivative of a softmax's entropy by its logits
    for n, rows in enumerate(rollouts.rows):
        for t, row in enumerate(rows):
            if row.place == FILLER:
                continue
            s, own = row.place[0], slice(row.place[0] * actions, (row.place[0] + 1) * actions)
            score = np.eye(actions)[row.action] - policy[s]
            scale[n, t, own] = score / spread
            shift[n, t, own] = -mean / spread * score
            scale[n, t, size + s] = 1.0
            if part == "total":
                shift[n, t, own] += entropy * slope[s]
                scale[n, t, size + s] = value
    kept = {"actor": slice(0, size), "critic": slice(size, None), "total": slice(None)}[part]
    return scale[..., kept], shift[..., kept]


def moments_of_advantage(rollouts: Rollouts):
    """Mean and standard deviation over all steps that are experience."""
    weight = rollouts.probability[:, None] * rollouts.valid
    weight = weight / weight.sum()
    mean = (weight * rollouts.advantage).sum()
    return mean, np.sqrt((weight * (rollouts.advantage - mean) ** 2).sum())


def reference(env, stage, part, law, spread, *, gamma, value, entropy):
    """G* from its definition: E[psi A] and E[(V - V_critic) dV] under the law of the places."""
    policy, values = probabilities(stage), values_of(stage)
    states, actions = policy.shape
    true = iterated_values(env, policy, gamma)
    action = action_values(env, true, gamma)
    actor, critic = np.zeros((states, actions)), np.zeros(states)
    bonus = np.zeros((states, actions))
    for place, probability in law.items():
        if place == FILLER:
            continue
        s = place[0]
        advantage = action[s] - true[s]
        # sum_a pi(a) (1{a = b} - pi(b)) A(a), where the mean advantage is 0
        actor[s] += probability * policy[s] * (advantage - policy[s] @ advantage) / spread
        critic[s] += probability * (true[s] - values[s])
        bonus[s] -= probability * policy[s] * (np.log(policy[s]) - policy[s] @ np.log(policy[s]))
    if part == "actor":
        return actor.ravel()
    if part == "critic":
        return critic
    return np.concatenate([(actor + entropy * bonus).ravel(), value * critic])


def given(probability, keys, values):
    """E[values | key] of every rollout, with one key for each."""
    weight, total = defaultdict(float), defaultdict(float)
    for p, key, value in zip(probability, keys, values, strict=True):
        weight[key] += p
        total[key] = total[key] + p * value
    return np.array([total[key] / weight[key] for key in keys])


def variance(probability, values):
    """The trace of the covariance matrix of vectors [n, p]."""
    mean = probability @ values
    return probability @ ((values - mean) ** 2).sum(axis=1)


def sources(rollouts: Rollouts, scale, shift):
    """Every source by its definition, as a dictionary."""
    p, rows = rollouts.probability, rollouts.rows
    steps = rollouts.advantage.shape[1]
    expected = np.empty_like(rollouts.advantage)
    answered = np.empty_like(rollouts.advantage)
    for t in range(steps):
        own = [(r[t].place, r[t].action) for r in rows]
        expected[:, t] = given(p, own, rollouts.advantage[:, t])
        answered[:, t] = given(p, [r[t] for r in rows], rollouts.advantage[:, t])
    plain = scale * expected[..., None] + shift
    noise = scale * (rollouts.advantage - expected)[..., None]
    smooth, rough = plain.mean(axis=1), noise.mean(axis=1)
    size = (scale**2).sum(axis=2)
    gradient = smooth + rough
    by_start, by_actions, by_transitions = doob(p, rows, gradient)
    _, noise_actions, noise_transitions = doob(p, rows, rough)
    return {
        "sampling": variance(p, smooth),
        "sampling_individual": sum(variance(p, plain[:, t]) for t in range(steps)) / steps**2,
        "noise": variance(p, rough),
        "environment": noise_transitions,
        "policy": noise_actions,
        "own_step": p @ (size * (answered - expected) ** 2).sum(axis=1) / steps**2,
        "noise_individual": p
        @ (size * (rollouts.advantage - expected) ** 2).sum(axis=1)
        / steps**2,
        "coupling": 2 * p @ (smooth * rough).sum(axis=1),
        "start": by_start,
        "actions": by_actions,
        "transitions": by_transitions,
        "variance": variance(p, gradient),
    }


def doob(probability, rows, gradient):
    """Variances of the changes of E[G | what is known], when start, actions, answers are drawn."""
    known = np.broadcast_to(probability @ gradient, gradient.shape)
    added = {"start": 0.0, "actions": 0.0, "transitions": 0.0}
    for t in range(len(rows[0])):
        keys = {
            "start": [(*r[:t], r[t].place) for r in rows],
            "actions": [(*r[:t], r[t].place, r[t].action) for r in rows],
            "transitions": [(*r[: t + 1],) for r in rows],
        }
        for drawn, key in keys.items():
            after = given(probability, key, gradient)
            added[drawn] += probability @ ((after - known) ** 2).sum(axis=1)
            known = after
    return added["start"], added["actions"], added["transitions"]
