"""Laws of parts: a pool collected in parts is, byte for byte, the pool collected at once."""

import gymnasium
import pytest
from gymnasium.wrappers import TimeLimit
from toys import actor_critic

from nbyt.collect.pool import Pool, collect_part, collect_pool, joined
from nbyt.collect.segment import PoolPlan, parts_of
from nbyt.envs import resolve


def cart_pole() -> gymnasium.Env:
    return TimeLimit(gymnasium.make("CartPole-v1").unwrapped, 15)


@pytest.mark.parametrize(
    ("env", "synchronised"),
    [(cart_pole, False), (cart_pole, True), ("envpool:CartPole-v1", False)],
)
def test_parts_make_the_whole_to_the_last_byte(env, synchronised: bool) -> None:
    """Groups of 7 and a shorter one; parts of 3, cut where a group ends."""
    if env is not cart_pole:
        pytest.importorskip("envpool")
    found = resolve(env)
    policy, params = actor_critic(found)
    plan = PoolPlan(17, 40, 0, 0.9, seed=3, envs=7, synchronised=synchronised)
    whole = collect_pool(found, policy, params, plan)
    assert whole.terminated.any()
    parts = parts_of(plan, 6)
    assert [len(part) for part in parts] == [3, 3, 1, 3, 3, 1, 3]
    pieces = [collect_part(found, policy, params, plan, part) for part in parts]
    again = joined(pieces)
    for name in Pool._fields:
        expected, seen = getattr(whole, name), getattr(again, name)
        assert expected.dtype == seen.dtype and expected.shape == seen.shape, name
        assert expected.tobytes() == seen.tobytes(), name


def test_parts_are_all_chains_once_in_order() -> None:
    for chains in (1, 5, 64, 100):
        for count in (1, 3, 8, 200):
            parts = parts_of(PoolPlan(chains, 1, 0, 0.9, seed=0, envs=16), count)
            assert [chain for part in parts for chain in part] == list(range(chains))
            assert all(part.start // 16 == (part.stop - 1) // 16 for part in parts)
