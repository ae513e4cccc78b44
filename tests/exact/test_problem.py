"""Questions that cannot be answered are refused, each with what to do."""

import gymnasium
import jax
import numpy as np
import pytest
from problems import endless, random_problem

from nbyt import exact
from nbyt.errors import UsageError
from nbyt.policy.actor_critic import build, table
from nbyt.policy.networks import Network

ENV, STAGE = random_problem(0, 3, 2)
RIGHT = {"env": ENV, "policy": STAGE, "steps": 4, "gamma": 0.9, "lam": 0.8}
VECTOR = build(gymnasium.spaces.Box(-1, 1, (3,)), gymnasium.spaces.Discrete(2), Network("mlp"))
SCORES = np.zeros((3, 2, 1))
WRONG = {
    "env": ({"env": "CartPole-v1"}, "env that is a table, not str"),
    "policy": ({"policy": np.zeros((3, 2))}, "is a ndarray, not a Stage"),
    "states": ({"policy": table(np.zeros((4, 2)), np.zeros(4))}, "3 numbered states and 2 actions"),
    "actions": ({"policy": table(np.zeros((3, 5)), np.zeros(3))}, "actions=5"),
    "vector": (
        {"policy": type(STAGE)(VECTOR, VECTOR.init(jax.random.key(0)))},
        "reads vector observations",
    ),
    "steps 0": ({"steps": 0}, "steps must be a whole number from 1 to .*, not 0"),
    "steps 2.5": ({"steps": 2.5}, "steps must be a whole number"),
    "gamma": ({"gamma": 1.5}, "gamma must be between 0 and 1, not 1.5"),
    "gamma nan": ({"gamma": float("nan")}, "gamma must be between 0 and 1"),
    "lam": ({"lam": -0.1}, "lambda must be between 0 and 1, not -0.1"),
    "start": ({"start": "random"}, "start is 'random'"),
    "autoreset": ({"autoreset": "never"}, "autoreset is 'never'"),
    "features": ({"features": exact.Features(SCORES[:2], np.ones((3, 1)))}, "features have shapes"),
    "scores": ({"features": exact.Features(SCORES + 1, np.ones((3, 1)))}, "mean score is 1"),
}


@pytest.mark.parametrize("case", WRONG)
def test_wrong_arguments_are_refused_by_name(case) -> None:
    changed, message = WRONG[case]
    arguments = {**RIGHT, **changed}
    env, policy = arguments.pop("env"), arguments.pop("policy")
    with pytest.raises(UsageError, match=message) as error:
        exact.moments(env, policy, **arguments)
    assert error.value.where and error.value.fix


def test_right_arguments_are_not_refused() -> None:
    env, policy, rest = ENV, STAGE, {k: RIGHT[k] for k in ("steps", "gamma", "lam")}
    assert exact.moments(env, policy, **rest).actor.variance > 0
    assert exact.moments(env, policy, **{**rest, "steps": np.int64(4)}).actor.variance > 0


def test_advantages_that_are_all_alike_cannot_be_centred() -> None:
    env, stage = endless()
    found = exact.moments(env, stage, steps=1, gamma=0.9, lam=0.9, centre=True)
    with pytest.raises(UsageError, match="all advantages are 1") as error:
        _ = found.actor
    assert "centre=False" in error.value.fix


@pytest.mark.parametrize("ask", [exact.sources, exact.phase])
def test_other_questions_need_steps_too(ask) -> None:
    more = {"updates": 2} if ask is exact.phase else {}
    with pytest.raises(UsageError, match="steps must be a whole number"):
        ask(ENV, STAGE, steps=0, gamma=0.9, lam=0.8, **more)


def test_envs_and_updates_are_counted_from_1() -> None:
    found = exact.moments(ENV, STAGE, steps=2, gamma=0.9, lam=0.8).actor
    for ask in (found.alignment, found.noise_factor, found.mse):
        with pytest.raises(UsageError, match="envs must be a whole number from 1"):
            ask(0)
    with pytest.raises(UsageError, match="updates must be"):
        exact.phase(ENV, STAGE, steps=2, updates=0, gamma=0.9, lam=0.8)
    with pytest.raises(UsageError, match="policy is 'best'"):
        exact.frozenlake("best")


def test_what_never_varies_has_no_ratio() -> None:
    env, stage = endless()
    found = exact.moments(env, stage, steps=2, gamma=0.9, lam=0.8).actor
    assert found.variance == 0 and found.ess_ratio is None and found.noise_factor(2) is None
    assert exact.long_run(env, stage, gamma=0.9, lam=0.8).actor.tau is None
    assert exact.lags(env, stage, steps=2, count=1, gamma=0.9, lam=0.8).actor.correlation is None
