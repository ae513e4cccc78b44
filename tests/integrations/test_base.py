"""Arrays of a training loop become a batch: advantages, and what the loop did not say."""

import numpy as np
from numpy.testing import assert_allclose

from nbyt.integrations.base import LIMITS, live_batch

STEPS, ENVS, GAMMA, LAM = 6, 3, 0.9, 0.8


def arrays() -> dict[str, np.ndarray]:
    rng = np.random.default_rng(0)
    ends = np.zeros((STEPS, ENVS), bool)
    return {
        "obs": rng.normal(size=(STEPS, ENVS, 2)),
        "actions": rng.integers(2, size=(STEPS, ENVS)),
        "rewards": rng.normal(size=(STEPS, ENVS)),
        "terminated": ends,
        "truncated": ends.copy(),
        "values": rng.normal(size=(STEPS, ENVS)),
    }


def test_without_last_values_the_last_step_only_lends_its_value() -> None:
    given = arrays()
    batch, warnings = live_batch(given, gamma=GAMMA, lam=LAM)
    shorter = {name: values[:-1] for name, values in given.items()}
    same, _ = live_batch(shorter, gamma=GAMMA, lam=LAM, last_values=given["values"][-1])
    assert_allclose(batch.advantage, same.advantage)
    assert batch.advantage.shape == (STEPS - 1, ENVS) and warnings == ()


def test_a_truncated_step_without_its_final_value_counts_as_an_end_with_a_warning() -> None:
    given = arrays()
    given["truncated"][2, 1] = True
    unsaid, warnings = live_batch(given, gamma=GAMMA, lam=LAM)
    final = np.zeros((STEPS, ENVS))
    said, none = live_batch(given, gamma=GAMMA, lam=LAM, final_values=final)
    assert warnings == (LIMITS,) and none == ()
    assert_allclose(unsaid.advantage, said.advantage)
    final[2, 1] = 10.0
    higher, _ = live_batch(given, gamma=GAMMA, lam=LAM, final_values=final)
    assert_allclose(higher.advantage[2, 1] - said.advantage[2, 1], GAMMA * 10.0, rtol=1e-5)


def test_the_trainings_own_advantages_are_kept() -> None:
    given = arrays()
    batch, _ = live_batch(given, gamma=GAMMA, lam=LAM, advantages=given["rewards"])
    assert_allclose(batch.advantage, given["rewards"].astype(np.float32))
