"""Law: whatever resets an env, its valid transitions are the same.

The oracle is a bare loop over one env, written here: step, and reset when it ended.
"""

import corridor
import corridor_device
import corridor_vectors
import gymnasium
import jax
import numpy as np
import pytest
from gymnasium.vector import AutoresetMode
from transitions import Seen, assert_same_transitions, valid_transitions

from nbyt.collect import device
from nbyt.envs import gymnasium_suite
from nbyt.envs.user_code import env_from
from nbyt.policy.actor_critic import table

WAYS = [("sync", "same"), ("sync", "next"), ("async", "same"), ("async", "next")]
SEEDS = [3, 4, 5]


def oracle(env: gymnasium.Env, seed: int, actions: np.ndarray) -> list[Seen]:
    """The transitions of one env along `actions`."""
    observation, _ = env.reset(seed=seed)
    rows = []
    for action in actions:
        after, reward, terminated, truncated, _ = env.step(action)
        rows.append(Seen(observation, action, float(reward), terminated, truncated, after))
        observation = env.reset()[0] if terminated or truncated else after
    return rows


def corridor_actions() -> list[np.ndarray]:
    """One env walks straight to the end, one runs into the time limit, one does anything."""
    straight = np.ones(40, int)
    idle = np.zeros(40, int)
    anything = np.random.default_rng(0).integers(0, 2, 40)
    return [straight, idle, anything]


@pytest.mark.parametrize("make", [corridor.make, corridor.make_box])
@pytest.mark.parametrize(("vector", "autoreset"), WAYS)
def test_corridor_is_the_same_through_every_reset(make, vector, autoreset) -> None:
    expected = [oracle(make(), 0, actions) for actions in corridor_actions()]
    env = gymnasium_suite.GymnasiumEnv("corridor:make", make)
    running = env.start(3, vector=vector, autoreset=autoreset)
    try:
        seen = valid_transitions(running, SEEDS, corridor_actions())
    finally:
        running.close()
    assert_same_transitions(seen, expected)


VECTORS = {
    "next-step": corridor_vectors.next_step,
    "same-step": corridor_vectors.same_step,
    "no-autoreset": corridor_vectors.disabled,
    "no-mode-said": corridor_vectors.named_mode,
    "sync-next": corridor_vectors.sync_of(corridor.make_box, AutoresetMode.NEXT_STEP),
    "sync-same": corridor_vectors.sync_of(corridor.make_box, AutoresetMode.SAME_STEP),
    "sync-none": corridor_vectors.sync_of(corridor.make_box, AutoresetMode.DISABLED),
    "dict-same": corridor_vectors.sync_of(corridor_vectors.make_dict, AutoresetMode.SAME_STEP),
    "dict-next": corridor_vectors.sync_of(corridor_vectors.make_dict, AutoresetMode.NEXT_STEP),
    "fixed": corridor_vectors.fixed,
    "isaac-arrays": corridor_vectors.isaac,
    "isaac-five-values": corridor_vectors.isaac_five,
    "isaac-torch": corridor_vectors.isaac_torch,
    "isaac-dict": corridor_vectors.isaac_parts,
    "sb3": corridor_vectors.vec_env,
    "sb3-wrapped": corridor_vectors.monitored,
}
NEEDS = {"isaac-torch": "torch", "isaac-dict": "torch", "sb3": "stable_baselines3"}
NEEDS |= {"sb3-wrapped": "stable_baselines3"}


@pytest.mark.parametrize("kind", VECTORS)
def test_corridor_is_the_same_through_every_vector_env(kind: str) -> None:
    if kind in NEEDS:
        pytest.importorskip(NEEDS[kind])
    expected = [oracle(corridor.make_box(), 0, actions) for actions in corridor_actions()]
    running = env_from(VECTORS[kind]).start(3)
    try:
        assert running.envs == 3
        seen = valid_transitions(running, SEEDS, corridor_actions())
        again = valid_transitions(running, SEEDS, corridor_actions())
    finally:
        running.close()
    assert_same_transitions(
        seen, one_end(expected) if "isaac" in kind or "sb3" in kind else expected
    )
    assert_same_transitions(again, seen)


def test_a_time_out_without_its_observation_has_the_one_before() -> None:
    """Rewards and ends are right all the same; the note says it."""
    expected = one_end([oracle(corridor.make_box(), 0, row) for row in corridor_actions()])
    env = env_from(corridor_vectors.isaac_no_final)
    running = env.start(3)
    seen = valid_transitions(running, SEEDS, corridor_actions())
    stood_in = [
        [r._replace(next_observation=r.observation) for r in row if r.truncated] for row in seen
    ]
    assert any(stood_in)
    assert_same_transitions([[r for r in row if r.truncated] for row in seen], stood_in)
    goes_on = [[r for r in row if not (r.terminated or r.truncated)] for row in seen]
    assert_same_transitions(
        goes_on, [[r for r in row if not (r.terminated or r.truncated)] for row in expected]
    )
    ends = [[(r.reward, r.terminated, r.truncated) for r in row] for row in seen]
    np.testing.assert_allclose(
        np.array(ends, float),
        np.array([[(r.reward, r.terminated, r.truncated) for r in row] for row in expected], float),
        rtol=1e-6,
    )
    assert any("time-outs come without a final observation" in note for note in env.notes)


def device_transitions(env, logits: list[float]) -> tuple[list[list[Seen]], list[np.ndarray]]:
    """The transitions of three device envs in one rollout of 40 steps, and the actions of each.

    The critic's value of a cell is its number, so that values tell which observation they are of.
    """
    stage = table(np.tile(logits, (corridor.CELLS, 1)), np.arange(corridor.CELLS))
    runner = device.start(env, 3, jax.random.key(0))
    runner, made, _ = device.collect(
        env, stage.policy, stage.params, runner, jax.random.key(1), steps=40
    )
    made = jax.device_get(made)
    after = np.concatenate([made.observation[1:], runner.observation[None]])
    after = np.where(made.truncated, made.final_value, after)
    after = np.where(made.terminated, corridor.CELLS - 1, after)
    assert made.valid.all()
    fields = (made.observation, made.action, made.reward, made.terminated, made.truncated, after)
    rows = [[Seen(*(f[t, n] for f in fields)) for t in range(40)] for n in range(3)]
    return rows, list(made.action.T)


@pytest.mark.parametrize(
    "logits", [[-30, 30], [30, -30], [0, 0.3]], ids=["straight", "idle", "any"]
)
@pytest.mark.parametrize("make", [corridor_device.tables, corridor_device.functions])
def test_corridor_is_the_same_on_the_device_and_through_the_adapters(make, logits) -> None:
    seen, actions = device_transitions(make(), logits)
    expected = [oracle(corridor.make(), 0, row) for row in actions]
    assert_same_transitions(seen, one_end(expected))
    assert any(row.terminated or row.truncated for row in seen[0])
    host = gymnasium_suite.GymnasiumEnv("corridor:make", corridor.make)
    for autoreset in ("same", "next"):
        running = host.start(3, autoreset=autoreset)
        assert_same_transitions(seen, one_end(valid_transitions(running, SEEDS, actions)))
        running.close()


def one_end(rows: list[list[Seen]]) -> list[list[Seen]]:
    """The transitions with a death in the very step of the time limit counted as a death only.

    Gymnasium reports both there; on the device, and in a Rollout, only the death counts.
    """
    return [[r._replace(truncated=r.truncated and not r.terminated) for r in env] for env in rows]


def test_the_oracle_meets_both_ends() -> None:
    rows = [oracle(corridor.make(), 0, actions) for actions in corridor_actions()]
    assert sum(row.terminated for row in rows[0]) == 40 // 3
    assert sum(row.truncated for row in rows[1]) == 40 // 7
    assert not any(row.terminated and row.truncated for row in rows[0] + rows[1])


def test_next_step_has_filler_rows_and_same_step_has_none() -> None:
    env = gymnasium_suite.GymnasiumEnv("corridor:make", corridor.make)
    counts = {}
    for autoreset in ("same", "next"):
        running = env.start(1, autoreset=autoreset)
        running.reset([0])
        steps = [running.step(np.ones(1, int)) for _ in range(8)]
        counts[autoreset] = [bool(step.valid[0]) for step in steps]
        running.close()
    assert counts["same"] == [True] * 8
    assert counts["next"] == [True, True, True, False] * 2


def cliff_actions() -> list[np.ndarray]:
    """Up, along the edge, down to the goal; and one env that falls off the cliff now and then."""
    path = [0, *[1] * 11, 2]
    return [np.array(path * 3), np.random.default_rng(1).integers(0, 4, 39)]


def test_cliff_walking_is_the_same_through_gymnasium_and_envpool() -> None:
    pytest.importorskip("envpool")
    from nbyt.envs import envpool_suite

    rows = []
    for found in (gymnasium_suite.find("CliffWalking-v1"), envpool_suite.find("CliffWalking-v1")):
        running = found.start(2)
        rows.append(valid_transitions(running, SEEDS[:2], cliff_actions()))
        running.close()
    assert sum(row.terminated for row in rows[0][0]) == 3
    assert_same_transitions(rows[0], rows[1])


def test_a_time_limit_is_the_same_through_gymnasium_and_envpool() -> None:
    """Pushing one way for ever only ever meets the limit, which both suites set to 200."""
    pytest.importorskip("envpool")
    from nbyt.envs import envpool_suite

    ends = []
    for found in (gymnasium_suite.find("MountainCar-v0"), envpool_suite.find("MountainCar-v0")):
        assert found.time_limit == 200
        running = found.start(1)
        seen = valid_transitions(running, [0], [np.zeros(450, int)])[0]
        running.close()
        ends.append([i for i, row in enumerate(seen) if row.truncated])
        assert not any(row.terminated for row in seen)
    assert ends[0] == ends[1] == [199, 399]
