"""Seeds in one program: each learns the same to the last bit, whoever keeps it company."""

import pytest

from nbyt.envs import resolve
from nbyt.layout import Layout
from nbyt.train.curves import train_curve, train_seeds, training_returns
from nbyt.train.plan import PPOPlan, PPOSettings

LAYOUT = Layout(envs=8, steps=8, minibatch=16, epochs=2)
SETTINGS = PPOSettings(network="table", learning_rate=0.05)


def _plans(*seeds: int) -> list[PPOPlan]:
    env = "tabular:FrozenLake-v1"
    return [PPOPlan(env, LAYOUT, 20 * LAYOUT.batch, seed, SETTINGS, (10, 20)) for seed in seeds]


@pytest.fixture(scope="module")
def together():
    return train_seeds(_plans(0, 1, 2), resolve("tabular:FrozenLake-v1"))


@pytest.mark.parametrize("company", [(1,), (1, 7), (2, 1)])
def test_a_seed_learns_the_same_in_any_company(together, company):
    env = resolve("tabular:FrozenLake-v1")
    found = train_seeds(_plans(*company), env)
    assert found[company.index(1)] == together[1]


@pytest.mark.learns
def test_seeds_differ_and_learn_as_nbyt_train_does(together):
    env = resolve("tabular:FrozenLake-v1")
    assert len({curve.returns for curve in together}) == len(together)
    alone = train_curve(_plans(1)[0], env)
    assert alone.samples == together[1].samples
    assert alone.returns == pytest.approx(together[1].returns, abs=0.05)


def test_the_returns_of_training_are_those_of_the_episodes_that_ended_between_two_points() -> None:
    layout = Layout(4, 8, 32, 1)
    plan = PPOPlan("env", layout, 5 * layout.batch, 0, PPOSettings(), (2, 4, 5))
    counts, sums = [0, 2, 0, 0, 1], [0.0, 3.0, 0.0, 0.0, 7.0]
    assert training_returns(plan, counts, sums) == (1.5, None, 7.0)
