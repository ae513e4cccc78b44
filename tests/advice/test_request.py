"""The question: defaults, refusals, and the command that asks it again."""

import shlex

import pytest

from nbyt.advice.request import effort, make_advice_request, stage_updates
from nbyt.cli import main
from nbyt.envs import resolve
from nbyt.errors import LayoutError, UsageError
from nbyt.train.plan import PPOSettings

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


def test_more_stages_are_kept_than_measured_closer_together_early_on() -> None:
    assert stage_updates(30, 4) == (1, 2, 3, 5, 6, 9, 12, 16, 22, 30)
    assert stage_updates(3, 3) == (1, 2, 3) and stage_updates(1, 1) == (1,)
    with pytest.raises(UsageError, match="stages"):
        stage_updates(3, 4)


def test_thorough_trains_with_two_opposite_layouts() -> None:
    found = make_advice_request(ENV, batch=2048, effort=effort("thorough"))
    assert found.trained == (8, 256)
    small = make_advice_request(ENV, batch=8, effort=effort("thorough"), minibatch=8)
    assert small.trained == (8,)  # no batch that small has two


def test_quick_measures_the_trained_lambda_only() -> None:
    assert make_advice_request(ENV, batch=64, effort=effort("quick")).lambdas == (0.95,)
    assert _question(settings=PPOSettings(lam=0.9)).lambdas == (0.9, 0.0, 0.8, 0.95, 1.0)
    assert _question(lambdas=[0.7, 1.0]).lambdas == (0.7, 1.0)
    assert _question(lambdas=[0.7, 1.0]).settings.lam == 0.7  # the first is trained with


def test_the_command_asks_the_same_question_again() -> None:
    asked = _question(
        batch=1024,
        steps=[4, 32],
        lambdas=[0.9, 1.0],
        total=40_000,
        stages=2,
        seed=3,
        settings=PPOSettings(lam=0.9, learning_rate=1e-3, normalise_rewards=True),
    )
    words = shlex.split(asked.command())
    assert words[:3] == ["nbyt", "advise", "tabular:FrozenLake-v1"]
    for pair in (("--batch", "1024"), ("--steps", "4,32"), ("--lambda", "0.9,1"), ("--seed", "3")):
        assert words[words.index(pair[0]) + 1] == pair[1]
    assert "--normalise-rewards" in words and "--epochs" not in words
    assert main.run([*words[1:], "--dry-run", "--quiet"]) == 0


@pytest.mark.parametrize(
    ("options", "where"),
    [({"objective": "nobody"}, "objective"), ({"lambdas": [1.5]}, "lambda")],
)
def test_values_that_make_no_sense_are_refused(options: dict, where: str) -> None:
    with pytest.raises(UsageError) as refused:
        _question(**options)
    assert refused.value.where == where
