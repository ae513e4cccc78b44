"""Numbers worked out by hand from each library's own code, where libraries differ."""

import pytest

from nbyt.dialects import explain


def test_the_schedule_of_a_common_setting() -> None:
    found = explain(
        "sb3", n_envs=8, n_steps=2048, batch_size=64, n_epochs=10, total_timesteps="1e6"
    )
    assert found.layout == {
        "envs": 8,
        "steps": 2048,
        "batch": 16384,
        "minibatch": 64,
        "minibatches": 256,
        "epochs": 10,
        "fragment": 2048,
    }
    schedule = found.schedule
    assert schedule["updates"] == 62  # 61.04 batches, and the last one is collected in full
    assert schedule["gradient_steps_per_update"] == 2560
    assert schedule["gradient_steps"] == 62 * 2560
    assert schedule["samples_per_gradient_step"] == 64 and schedule["uses_per_sample"] == 10
    assert found.traps == ()


@pytest.mark.parametrize(
    ("library", "given", "updates"),
    [
        ("cleanrl", {"num_envs": 8, "num_steps": 128, "total_timesteps": 10_000}, 9),
        ("sb3", {"n_envs": 8, "n_steps": 128, "total_timesteps": 10_000}, 10),
        ("rsl_rl", {"num_envs": 8, "num_steps_per_env": 128, "max_iterations": 30}, 30),
        ("skrl", {"num_envs": 8, "rollouts": 16, "timesteps": 100}, 6),
        ("spinningup", {"epochs": 50}, 50),
        ("rejax", {"num_envs": 64, "num_steps": 128, "total_timesteps": 131_072}, 32),
    ],
)
def test_a_run_makes_so_many_updates(library, given, updates) -> None:
    assert explain(library, **given).schedule["updates"] == updates


def test_shares_of_processes_add_up() -> None:
    ppo1 = explain("ppo1", processes=8, timesteps_per_actorbatch=256, optim_batchsize=64)
    assert ppo1.layout["batch"] == 2048 and ppo1.layout["minibatch"] == 512
    assert "per_process" in {trap.code for trap in ppo1.traps}
    rllib = explain("rllib", num_learners=2, train_batch_size_per_learner=2000)
    assert rllib.layout["batch"] == 4000 and rllib.layout["minibatch"] == 256


def test_brax_counts_unrolls_and_its_batch_does_not_depend_on_envs() -> None:
    few, many = (explain("brax", num_envs=n) for n in (1, 512))
    assert few.layout["batch"] == many.layout["batch"] == 32 * 16 * 10
    assert (few.layout["steps"], many.layout["steps"]) == (5120, 10)
    assert few.layout["fragment"] == many.layout["fragment"] == 10
    assert "refused" in {trap.code for trap in explain("brax", num_envs=3).traps}


def test_dopamine_has_one_env() -> None:
    found = explain("dopamine", preset="atari")
    assert (found.layout["envs"], found.layout["steps"]) == (1, 1024)
    assert found.schedule["minibatch_sizes"] == [256] * 4
    assert "blocks" in {trap.code for trap in found.traps}
