"""Options that commands share: which env a stage names, and which settings were given."""

import pytest

from nbyt.cli.options import Learning, env_of
from nbyt.errors import UsageError
from nbyt.policy.actor_critic import Stage, table
from nbyt.training.plan import PPOSettings


def stage_of(env: str) -> Stage:
    made = table([[0.0, 0.0]], [0.0])
    return Stage(made.policy, made.params, {"env": env})


def test_a_file_may_name_an_env_of_a_suite() -> None:
    assert env_of(stage_of("gymnax:CartPole-v1"), "", "stage") == "gymnax:CartPole-v1"
    assert env_of(stage_of("gymnax:CartPole-v1"), "Taxi-v4", "stage") == "Taxi-v4"


@pytest.mark.parametrize("named", ["os:abort", "gym:evil:Env-v0", "mine", ""])
def test_code_that_only_a_file_names_is_not_imported(named: str) -> None:
    with pytest.raises(UsageError, match="would be imported") as caught:
        env_of(stage_of(named), "", "stage")
    assert "--trust-env" in caught.value.fix
    assert env_of(stage_of(named), "", "stage", trust=True) == named


def test_settings_that_were_given_are_known_even_if_they_are_the_default() -> None:
    learning = Learning(gamma=PPOSettings().gamma, network="8")
    assert learning.given == {"gamma", "network"}
    assert learning.plain() == PPOSettings(network="8")
    assert Learning(gamma=7.0).given == {"gamma"}  # checked later, by `plain`
    with pytest.raises(UsageError, match="gamma"):
        Learning(gamma=7.0).plain()
