"""The question: defaults, refusals, and the command that asks it again."""

import shlex

import pytest

from nbyt.advice.request import effort, make_advice_request
from nbyt.cli import main
from nbyt.envs import resolve
from nbyt.errors import LayoutError, UsageError
from nbyt.training.plan import PPOSettings

ENV = resolve("tabular:FrozenLake-v1")


def _question(batch=2048, env=ENV, **options):
    return make_advice_request(env, batch=batch, effort=effort("normal"), **options)


def test_a_device_env_is_offered_every_split() -> None:
    assert _question().layouts[0] == (2048, 1) and _question().layouts[-1] == (1, 2048)


def test_a_host_env_is_offered_no_more_than_64_envs_unless_told() -> None:
    host = resolve("gym:CartPole-v1")
    assert [envs for envs, _ in _question(env=host).layouts] == [64, 32, 16, 8, 4, 2, 1]
    assert _question(env=host, max_envs=8).layouts[0] == (8, 256)


def test_a_batch_that_is_no_power_of_two_uses_its_divisors() -> None:
    found = _question(batch=720).steps
    assert len(found) <= 12 and all(720 % steps == 0 for steps in found)


def test_the_users_own_t_is_always_compared() -> None:
    assert 24 in _question(batch=720, current=24).steps
    assert 24 in _question(batch=720, steps=[1, 720], current=24).steps


@pytest.mark.parametrize(
    ("batch", "options"), [(1, {}), (2003, {"max_envs": 64}), (2048, {"steps": [32]})]
)
def test_one_split_is_nothing_to_compare(batch: int, options: dict) -> None:
    with pytest.raises(LayoutError, match="nothing to compare"):
        _question(batch=batch, **options)


def test_time_is_raced_and_samples_are_answered_without_a_race() -> None:
    assert _question().objective == "time" and _question().trainings == 4
    assert _question(objective="samples").trainings == 0
    assert _question(objective="samples", trainings=2).trainings == 2
    efforts = [
        make_advice_request(ENV, effort=effort(name)).trainings
        for name in ("quick", "normal", "thorough")
    ]
    assert efforts == [2, 4, 8]


def test_costs_are_timed_only_where_a_race_is_held() -> None:
    assert _question().costs.timed_here
    assert _question(trainings=0).costs.overhead == 16
    assert _question(trainings=0, costs="measured").costs.timed_here
    assert _question(costs="parallel:4").costs.overhead == 4


def test_a_training_has_at_least_a_hundred_updates() -> None:
    assert _question(batch=512).total == 200_000
    assert _question(batch=8192).total == 819_200


def test_other_lambdas_are_measured_with_the_largest_effort_only() -> None:
    assert _question().lambdas == (0.95,)
    thorough = make_advice_request(ENV, effort=effort("thorough"), settings=PPOSettings(lam=0.9))
    assert thorough.lambdas == (0.9, 0.0, 0.8, 0.95, 1.0)
    assert _question(lambdas=[0.7, 1.0]).lambdas == (0.7, 1.0)
    assert _question(lambdas=[0.7, 1.0]).settings.lam == 0.7  # the first is trained with


def test_a_larger_race_goes_on_in_the_same_folder() -> None:
    few, many = _question(trainings=1), _question(trainings=8)
    assert few.identity() == many.identity()
    assert few.identity() != _question(trainings=1, total=300_000).identity()


def test_the_command_asks_the_same_question_again() -> None:
    asked = _question(
        batch=1024,
        steps=[4, 32],
        lambdas=[0.9, 1.0],
        total=40_000,
        trainings=2,
        objective="samples",
        seed=3,
        settings=PPOSettings(lam=0.9, learning_rate=1e-3, normalise_rewards=True),
    )
    words = shlex.split(asked.command())
    assert words[:3] == ["nbyt", "advise", "tabular:FrozenLake-v1"]
    for pair in (
        ("--batch", "1024"),
        ("--steps", "4,32"),
        ("--lambda", "0.9,1"),
        ("--seed", "3"),
        ("--trainings", "2"),
        ("--objective", "samples"),
    ):
        assert words[words.index(pair[0]) + 1] == pair[1]
    assert "--normalise-rewards" in words and "--epochs" not in words
    assert main.run([*words[1:], "--dry-run", "--quiet"]) == 0


@pytest.mark.parametrize(
    ("options", "where"),
    [
        ({"objective": "nobody"}, "objective"),
        ({"lambdas": [1.5]}, "lambda"),
        ({"costs": "no such file"}, "costs"),
        ({"costs": "parallel:much"}, "costs"),
        ({"trainings": -1}, "trainings"),
    ],
)
def test_values_that_make_no_sense_are_refused(options: dict, where: str) -> None:
    with pytest.raises(UsageError) as refused:
        _question(**options)
    assert refused.value.where == where
