"""Numbers worked out by hand from each library's own code, where libraries differ."""

import pytest

from nbyt.dialects import explain

THOUSAND_BY_64 = [
    ("sb3", {"n_envs": 10, "n_steps": 100, "batch_size": 64}, [64] * 15 + [40]),
    ("sbx", {"n_envs": 10, "n_steps": 100, "batch_size": 64}, [64] * 15 + [40]),
    ("torchrl", {"frames_per_batch": 1000, "mini_batch_size": 64}, [64] * 15 + [40]),
    ("agilerl", {"learn_step": 1000, "batch_size": 64}, [64] * 15 + [40]),
    (
        "tianshou",
        {"num_training_envs": 10, "collection_step_num_env_steps": 1000, "batch_size": 64},
        [64] * 14 + [104],
    ),
    ("ppo1", {"timesteps_per_actorbatch": 1000, "optim_batchsize": 64}, [64] * 15),
    ("ml_agents", {"buffer_size": 1000, "batch_size": 64}, [64] * 15),
    (
        "rllib",
        {"train_batch_size_per_learner": 1000, "minibatch_size": 64, "num_epochs": 10},
        [64] * 157,
    ),
    (
        "rllib_old",
        {"num_rollout_workers": 2, "train_batch_size": 1000, "sgd_minibatch_size": 64},
        [64] * 15 + [40],
    ),
    ("dopamine", {"update_period": 1000, "batch_size": 64}, []),
    (
        "rl_games",
        {"num_actors": 10, "horizon_length": 100, "minibatch_size": 64, "mini_epochs": 4},
        [],
    ),
]
THOUSAND_IN_3 = [
    ("cleanrl", {"num_envs": 10, "num_steps": 100, "num_minibatches": 3}, [333] * 3 + [1]),
    ("rsl_rl", {"num_envs": 10, "num_steps_per_env": 100, "num_mini_batches": 3}, [333] * 3),
    ("skrl", {"num_envs": 10, "rollouts": 100, "mini_batches": 3}, [334, 333, 333]),
    ("ppo2", {"nenvs": 10, "nsteps": 100, "nminibatches": 3}, []),
    ("purejaxrl", {"NUM_ENVS": 10, "NUM_STEPS": 100, "NUM_MINIBATCHES": 3}, []),
    ("rejax", {"num_envs": 10, "num_steps": 100, "num_minibatches": 3}, []),
    ("acme", {"batch_size": 125, "unroll_length": 8, "num_minibatches": 3}, []),
]


@pytest.mark.parametrize(("library", "given", "sizes"), THOUSAND_BY_64, ids=lambda x: str(x)[:12])
def test_a_thousand_samples_in_mini_batches_of_64(library, given, sizes) -> None:
    found = explain(library, **given)
    assert found.layout["batch"] == 1000
    assert found.schedule["minibatch_sizes"] == sizes
    assert ("refused" in {trap.code for trap in found.traps}) == (not sizes)


@pytest.mark.parametrize(("library", "given", "sizes"), THOUSAND_IN_3, ids=lambda x: str(x)[:12])
def test_a_thousand_samples_in_three_mini_batches(library, given, sizes) -> None:
    found = explain(library, **given)
    assert found.layout["batch"] == 1000
    assert found.schedule["minibatch_sizes"] == sizes
    assert ("refused" in {trap.code for trap in found.traps}) == (not sizes)


def test_1024_samples_in_five_make_a_sixth_mini_batch_of_four() -> None:
    found = explain("cleanrl", num_envs=8, num_steps=128, num_minibatches=5)
    assert found.schedule["minibatch_sizes"] == [204] * 5 + [4]
    assert found.layout["minibatches"] == 6
    assert {trap.code for trap in found.traps} == {"tiny_tail"}


def test_the_own_default_of_rllib_wraps() -> None:
    found = explain("rllib")
    assert found.layout["batch"] == 4000 and found.layout["steps"] == 2000
    assert found.schedule["minibatch_sizes"] == [128] * 938
    assert found.schedule["gradient_steps_per_update"] == 938
    codes = {trap.code for trap in found.traps}
    assert {"wraps", "first_pass_unshuffled", "unusual_default"} <= codes


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


def test_a_total_is_shared_out_and_rounded_as_the_library_does() -> None:
    real = {
        "tianshou": ({"num_training_envs": 3, "collection_step_num_env_steps": 1000}, 334, 1002),
        "torchrl": ({"num_envs": 3, "frames_per_batch": 1000}, 334, 1002),
        "spinningup": ({"processes": 3, "steps_per_epoch": 1000}, 333, 999),
        "rllib": ({"num_env_runners": 3, "train_batch_size_per_learner": 1000}, 334, 1000),
    }
    for library, (given, steps, batch) in real.items():
        found = explain(library, **given)
        assert (found.layout["steps"], found.layout["batch"]) == (steps, batch), library
        assert "uneven_envs" in {trap.code for trap in found.traps}


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
