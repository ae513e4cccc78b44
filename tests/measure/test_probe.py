"""nbyt.probe against the exact oracle, and on stages that have nothing to measure."""

import json
from pathlib import Path

import jax
import numpy as np
import pytest

import nbyt
from nbyt.errors import EnvError, StoreError
from nbyt.exact import frozenlake, garnet, moments
from nbyt.measure.control import exact_numbers
from nbyt.measure.measurement import Measurement
from nbyt.policy.actor_critic import Stage, table
from nbyt.stats.estimate import Estimate
from nbyt.stats.pool import OBJECTIVES


def _near(found: Estimate, truth: float) -> bool:
    """Whether the truth lies in the interval made twice as wide; calibration is another test's."""
    margin = (found.high - found.low) / 2
    return found.low - margin <= truth <= found.high + margin


def _agrees(measured: Measurement, env: object, stage: Stage, start: str = "stationary") -> None:
    compared = expected = 0
    for one in measured.layouts:
        exact = moments(
            env, stage, steps=one.steps, gamma=measured.request.gamma, lam=one.lam, start=start
        )
        for objective in OBJECTIVES:
            truths = exact_numbers(getattr(exact, objective), one.envs)
            for name, truth in truths.items():
                found = getattr(one.gradient(objective), name)
                expected += truth is not None
                if truth is not None and None not in (found.value, found.low, found.high):
                    assert _near(found, truth), (one.steps, objective, name, str(found), truth)
                    compared += 1
    assert compared >= 0.9 * expected > 0, (compared, expected)


def test_the_promised_call_agrees_with_the_oracle() -> None:
    control = frozenlake("mid")
    made = control.env.outcomes  # one for each next state, so sums are the tables
    reward, ends = made.by_state(made.reward), made.by_state(made.terminated) > 0
    env = nbyt.envs.tabular.from_arrays(control.env.transition, reward, ends, control.env.start)
    policy = nbyt.policy.table(
        control.stage.params.actor["logits"], control.stage.params.critic["values"]
    )
    measured = nbyt.probe(
        env, policy, batch=128, steps=[4, 32], gamma=0.99, lam=0.95, chains=128, seed=0
    )
    variance = measured.layout(envs=32, steps=4).actor.variance
    assert variance.low < variance.value < variance.high
    _agrees(measured, env, policy)
    covariance = measured.layout(envs=4, steps=32).actor
    assert abs(covariance.covariance.value) < 0.1 * covariance.variance.value
    assert not measured.compare((32, 4), (4, 32)).told_apart or (
        measured.rankings["actor"].order[0] == 0
    )
    data = json.loads(json.dumps(measured.as_dict(), allow_nan=False))
    assert data["pool"]["chains"] == 128 and data["advantages"] == "raw"
    assert set(data["layouts"][0]["actor"]) >= set(exact_numbers_names())


def exact_numbers_names() -> tuple[str, ...]:
    return (
        *("individual", "covariance", "variance", "ess_ratio", "bias_sq"),
        *("mse", "cosine", "bias_factor", "noise_factor", "alignment"),
    )


def test_starts_at_a_reset_several_lambdas_and_the_split_of_the_bias() -> None:
    control = garnet(6, 2, 0)
    measured = nbyt.probe(
        control.env,
        control.stage,
        batch=64,
        steps=[2, 8],
        gamma=control.gamma,
        lam=[0.9, 0.0],
        chains=64,
        chain_steps=32,
        start="reset",
    )
    _agrees(measured, control.env, control.stage, "reset")
    one = measured.layout(steps=2, lam=0.0)
    exact = moments(
        control.env, control.stage, steps=2, gamma=control.gamma, lam=0.0, start="reset"
    )
    assert _near(one.bias_parts["actor"]["advantage"], (exact.actor.bias.advantage**2).sum())
    assert _near(one.bias_parts["actor"]["phase"], (exact.actor.bias.phase**2).sum())


def test_precision_is_reached_or_said_not_to_be() -> None:
    control = garnet(6, 2, 0)
    options = {
        "batch": 1024,
        "steps": [8],
        "gamma": control.gamma,
        "chains": 16,
        "chain_steps": 32,
        "phase": False,
    }
    loose = nbyt.probe(control.env, control.stage, precision=0.9, **options)
    assert loose.precision["reached"] is True
    tight = nbyt.probe(control.env, control.stage, precision=0.001, max_samples=6_000, **options)
    assert tight.precision["reached"] is False
    assert tight.chains == 16 * tight.precision["rounds"] > 16
    assert "approximate" in tight.warnings[0]


def _tiny(env: object, stage: Stage, **options: object) -> Measurement:
    known = {"batch": 32, "steps": [2, 8], "chains": 8, "chain_steps": 16, "gamma": 0.9}
    return nbyt.probe(env, stage, **{**known, **options})


def test_a_collapsed_policy_has_a_defined_result_with_reasons() -> None:
    control = garnet(3, 2, 1)
    stage = table(np.array([[200.0, -200.0]] * 3), np.zeros(3))
    measured = _tiny(control.env, stage, phase=False)
    actor = measured.layout(steps=8).actor
    assert actor.variance.value == 0
    assert actor.alignment.value is None and actor.alignment.reason
    assert actor.ess_ratio.value is None and actor.ess_ratio.reason
    assert any("collapsed" in line for line in measured.warnings)
    json.dumps(measured.as_dict(), allow_nan=False)


def test_an_env_that_ends_every_step_has_no_covariance_from_advantages() -> None:
    ends = np.ones((2, 2, 2), bool)
    reward = np.random.default_rng(0).normal(size=(2, 2, 2))
    env = nbyt.envs.tabular.from_arrays(np.full((2, 2, 2), 0.5), reward, ends, [0.5, 0.5])
    stage = table(np.zeros((2, 2)), np.zeros(2))
    measured = _tiny(env, stage, chains=64, phase=False)
    exact = moments(env, stage, steps=8, gamma=0.9, lam=0.95)
    for objective in ("actor", "critic"):
        gradient = measured.layout(steps=8).gradient(objective)
        assert gradient.variance.value > 0
        assert abs(getattr(exact, objective).covariance) < 1e-12
        assert gradient.covariance.low < 0 < gradient.covariance.high
        assert abs(gradient.covariance.value) < 0.25 * gradient.variance.value
    json.dumps(measured.as_dict(), allow_nan=False)


def test_a_number_that_is_not_finite_stops_with_its_place() -> None:
    from tests.training.lying_envs import nan_observation

    env = nan_observation()
    policy = nbyt.policy.actor_critic.build(
        env.observation_space, env.action_space, nbyt.policy.networks.parse_network("2")
    )
    stage = Stage(policy, policy.init(jax.random.key(0)))
    with pytest.raises(EnvError, match="not a finite number") as caught:
        _tiny(env, stage)
    assert "chain" in caught.value.where and "step" in caught.value.where


def test_a_stage_of_another_env_is_refused(tmp_path: Path) -> None:
    control = garnet(3, 2, 1)
    stage = Stage(control.stage.policy, control.stage.params, {"env": "tabular:Taxi-v4"})
    with pytest.raises(StoreError, match="trained on 'tabular:Taxi-v4'"):
        _tiny(control.env, stage)


def test_host_envs_are_measured_and_their_time_limit_is_named() -> None:
    env = nbyt.envs.resolve("gym:MountainCar-v0")  # every episode ends at its limit of 200 steps
    policy = nbyt.policy.actor_critic.build(
        env.observation_space, env.action_space, nbyt.policy.networks.parse_network("4")
    )
    stage = Stage(policy, policy.init(jax.random.key(0)), {"env": env.id})
    measured = _tiny(
        env, stage, chains=6, resources=nbyt.measure.request.Resources(envs=4), phase=False
    )
    assert measured.env == "gym:MountainCar-v0"
    assert measured.layout(steps=8).critic.variance.value > 0
    assert any("cannot go on past its time limit" in line for line in measured.warnings)


def test_the_same_seed_gives_the_same_numbers_and_another_seed_others() -> None:
    control = garnet(3, 2, 1)
    one, same, other = (
        _tiny(control.env, control.stage, seed=seed, phase=False).as_dict() for seed in (3, 3, 4)
    )
    for data in (one, same, other):
        data["engine"].pop("wall_seconds")
    assert one == same
    assert one["layouts"] != other["layouts"]


@pytest.mark.parametrize("objective", ["actor", "total"])
def test_normalised_advantages_are_ranked_by_their_alignment(objective: str) -> None:
    """The spread of advantages grows with T; what it divides must not count for or against a T."""
    control = garnet(6, 2, 0)
    measured = nbyt.probe(
        control.env,
        control.stage,
        batch=256,
        steps=[1, 32],
        gamma=control.gamma,
        lam=control.lam,
        advantages="normalised",
        phase=False,
    )
    spreads = [measured.products["actor", steps, control.lam].unit for steps in (1, 32)]
    assert max(spreads) > 1.2 * min(spreads)
    alignment = [
        getattr(
            moments(
                control.env,
                control.stage,
                steps=steps,
                gamma=control.gamma,
                lam=control.lam,
                centre=True,
            ),
            objective,
        ).alignment(256 // steps)
        for steps in (1, 32)
    ]
    found = measured.compare((256, 1), (8, 32), objective).ratio
    assert _near(found, (alignment[0] / alignment[1]) ** 0.5), (str(found), alignment)
