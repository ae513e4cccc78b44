"""Mini-batch sizes worked out by hand from each library's own code."""

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
